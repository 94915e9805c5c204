import type { Db } from '#platform/db/db.ts'
import type { Tx } from '#platform/db/tx.ts'
import { assert } from '#platform/std/assert.ts'
import type { Log } from '#platform/telemetry/log.ts'
import type { Claim, Idempotency } from './idempotency.ts'
import type { ReadInput } from './read-input.ts'
import type { Route } from './route.ts'

export interface CarryOutUse {
  readonly idempotency: Idempotency
  readonly db: Pick<Db<unknown>, 'tx'>
  readonly log: Log
}

type Input = Parameters<Route['handle']>[0]

/** What a route receives. The decision's transaction also keeps the reply when the request came with a key. */
class Attempt implements Input {
  readonly scope: ReadInput['scope']
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
  readonly request: ReadInput['request']
  readonly passage: ReadInput['passage']
  readonly file: ReadInput['file']
  readonly #db: Pick<Db<unknown>, 'tx'>
  readonly #claim: Claim | null
  /** The decision was made and its commit sent. From then on an error does not mean that nothing was stored. */
  decided = false
  committed = false

  constructor(input: ReadInput, db: Pick<Db<unknown>, 'tx'>, claim: Claim | null) {
    this.scope = input.scope
    this.params = input.params
    this.query = input.query
    this.body = input.body
    this.request = input.request
    this.passage = input.passage
    this.file = input.file
    this.#db = db
    this.#claim = claim
  }

  /** A getter, so that only the routes that take it apart pay for it. */
  get commit(): Input['commit'] {
    return (decide) => this.#commit(decide)
  }

  async #commit<Reply>(decide: (tx: Tx) => Promise<Reply>): Promise<Reply> {
    const reply = await this.#db.tx(async (tx) => {
      const decision = await decide(tx)
      if (this.#claim !== null) await this.#claim.complete(tx, decision)
      this.decided = true
      return decision
    })
    this.committed = true
    return reply
  }
}

/** Runs the route; a create with an Idempotency-Key runs once and gives the same reply from then on. */
export async function carryOut(
  route: Route,
  input: ReadInput,
  key: string | undefined,
  use: CarryOutUse,
): Promise<unknown> {
  const claim = key === undefined ? null : await claimOrReplay(route, input, key, use)
  if (claim !== null && 'replay' in claim) {
    await discardFile(route, input, use.log)
    return claim.replay
  }
  const attempt = new Attempt(input, use.db, claim)
  let reply: unknown
  try {
    reply = await route.handle(attempt)
  } catch (error) {
    // A commit whose answer was lost may have been carried out. The blob stays; without a row, the sweep removes it.
    if (!attempt.decided) await discardFile(route, input, use.log)
    if (claim !== null) await release(claim, use.log)
    throw error
  }
  assert(claim === null || attempt.committed, `${route.operation.id} creates, and so must decide in commit`)
  return reply
}

async function claimOrReplay(
  route: Route,
  input: ReadInput,
  key: string,
  use: CarryOutUse,
): Promise<Claim | { replay: unknown }> {
  const { params, query, body, file, fileName } = input
  const said = { params, query, body, file: file === null ? undefined : { sha256: file.sha256, name: fileName } }
  try {
    const begun = await use.idempotency.begin(route.operation, input.scope, key, said)
    return 'claim' in begun ? begun.claim : begun
  } catch (error) {
    await discardFile(route, input, use.log)
    throw error
  }
}

/** The caller learns what went wrong first; that the key is not free yet passes with its lease. */
async function release(claim: Claim, log: Log): Promise<void> {
  try {
    await claim.release()
  } catch (err) {
    log.warn({ err }, 'an idempotency key could not be freed')
  }
}

async function discardFile(route: Route, input: ReadInput, log: Log): Promise<void> {
  if (input.file === null) return
  try {
    await route.receiver?.discard(input.file)
  } catch (err) {
    log.warn({ err, requestId: input.request.id }, 'a received file could not be discarded')
  }
}
