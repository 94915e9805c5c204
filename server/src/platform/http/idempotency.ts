import type { Operation } from '@switchyard/contracts/operation.ts'
import { randomInt } from 'node:crypto'
import type { Db } from '#platform/db/db.ts'
import { statement } from '#platform/db/statement.ts'
import type { PlatformTables } from '#platform/db/tables.ts'
import { own, type Tx } from '#platform/db/tx.ts'
import { Fault } from '#platform/errors/fault.ts'
import type { Sealer } from '#platform/secrets/seal.ts'
import type { Scope } from './principal.ts'

const keyMax = 255
const keptMs = 24 * 3_600_000
/** A reply that shows a secret is kept only as long as a retry needs. */
const secretKeptMs = 10 * 60_000
/** Longer than any create takes; after it a dead process's claim can be taken over. */
const claimMs = 60_000

/** What the store of replies needs of the deployment's keys. */
export type ReplySealer = Pick<Sealer, 'seal' | 'open' | 'digest' | 'digestMatches'>

export interface Claim {
  /** Keeps the reply in the transaction that makes the object. Throws when another attempt took over. */
  complete(tx: Tx, reply: unknown): Promise<void>
  /** The request failed: the key is free again. */
  release(): Promise<void>
}

export type Begun = { replay: unknown } | { claim: Claim }

export interface Idempotency {
  begin(operation: Operation, scope: Scope, key: string, body: unknown): Promise<Begun>
}

/**
 * A number that fences this attempt's commit. It starts at random, because a row that is freed is deleted: were the
 * next to begin at 1 again, an attempt that was frozen all the while could take the new row for its own.
 */
const firstAttempt = () => randomInt(1, 2 ** 30)

const claimRow = statement<[string, string, string, string, number, number, number], { attempt: number }>(
  'platform.idempotency-claim',
  `insert into platform.idempotency (owner, key, operation, digest, attempt, lease_until, expires_at)
   values ($1, $2, $3, $4, $5, clock_timestamp() + $6 * interval '1 millisecond', clock_timestamp() + $7 * interval '1 millisecond')
   on conflict (owner, key) do nothing
   returning attempt`,
)

interface KeptRow {
  operation: string
  digest: string
  reply: string | null
  attempt: number
  abandoned: boolean
  expired: boolean
}

const keptRow = statement<[string, string], KeptRow>(
  'platform.idempotency-kept',
  `select operation, digest, reply, attempt, lease_until < clock_timestamp() as abandoned,
          expires_at < clock_timestamp() as expired
   from platform.idempotency where owner = $1 and key = $2`,
)

/** Guarded by the attempt that was seen: of several that find the same dead claim, one takes it. */
const takeOverRow = statement<[string, string, string, string, number, number, number], { attempt: number }>(
  'platform.idempotency-take-over',
  `update platform.idempotency
   set operation = $3, digest = $4, attempt = attempt + 1, status = null, reply = null,
       lease_until = clock_timestamp() + $6 * interval '1 millisecond',
       expires_at = clock_timestamp() + $7 * interval '1 millisecond'
   where owner = $1 and key = $2 and attempt = $5
     and (expires_at < clock_timestamp() or (status is null and lease_until < clock_timestamp()))
   returning attempt`,
)

/** The same body gives the same text whatever the order of its fields. Values of secrets are no part of it. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (key, inner: unknown) =>
    key === 'domain_secrets' && Array.isArray(inner)
      ? inner.map((secret: object) => ({ ...secret, value: undefined }))
      : inner !== null && typeof inner === 'object' && !Array.isArray(inner)
        ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
        : inner,
  )
}

const ownerOf = (scope: Scope) =>
  'projectId' in scope ? scope.projectId : 'adAccountId' in scope ? scope.adAccountId : scope.orgId

const reused = () =>
  new Fault('idempotency_key_reused', 'This Idempotency-Key was used before for another request.', {
    param: 'Idempotency-Key',
  })

const inUse = (message: string) => new Fault('idempotency_key_in_use', message, { retryAfterMs: 1_000 })

export function createIdempotency(db: Db<PlatformTables>, sealer: ReplySealer): Idempotency {
  return {
    async begin(operation, scope, key, body) {
      if (key.length > keyMax || !/^[\x21-\x7e]+$/.test(key)) {
        throw new Fault('invalid_value', `An Idempotency-Key has 1 to ${keyMax} visible ASCII characters.`, {
          param: 'Idempotency-Key',
        })
      }
      const owner = ownerOf(scope)
      const context = `idempotency:${owner}:${key}`
      const text = canonical(body)
      const digest = sealer.digest(context, text)
      const keepMs = operation.showsSecret === true ? secretKeptMs : keptMs
      const claim = (attempt: number) => ({ claim: openClaim(db, sealer, owner, key, context, attempt) })

      const [claimed] = await db.run(claimRow, [owner, key, operation.id, digest, firstAttempt(), claimMs, keepMs])
      if (claimed !== undefined) return claim(claimed.attempt)

      const [kept] = await db.run(keptRow, [owner, key])
      // Freed since: whoever held it failed, and the caller may try again at once.
      if (kept === undefined) throw inUse('A request with this Idempotency-Key has just ended without a result.')
      if (!kept.expired) {
        const same = kept.operation === operation.id && sealer.digestMatches(kept.digest, context, text)
        if (!same) throw reused()
        if (kept.reply !== null) return { replay: JSON.parse(sealer.open(kept.reply, context).toString('utf8')) }
        if (!kept.abandoned) throw inUse('A request with this Idempotency-Key is still running.')
      }
      const taken = await db.run(takeOverRow, [owner, key, operation.id, digest, kept.attempt, claimMs, keepMs])
      if (taken[0] === undefined) throw inUse('A request with this Idempotency-Key is still running.')
      return claim(taken[0].attempt)
    },
  }
}

function openClaim(
  db: Db<PlatformTables>,
  sealer: ReplySealer,
  owner: string,
  key: string,
  context: string,
  attempt: number,
): Claim {
  return {
    async complete(tx, reply) {
      const kept = await own<PlatformTables>(tx)
        .updateTable('platform.idempotency')
        .set({ status: 200, reply: sealer.seal(JSON.stringify(reply), context) })
        .where('owner', '=', owner)
        .where('key', '=', key)
        .where('attempt', '=', attempt)
        .executeTakeFirst()
      if (kept.numUpdatedRows !== 1n) throw inUse('Another attempt with this Idempotency-Key took over.')
    },
    async release() {
      await db.kysely
        .deleteFrom('platform.idempotency')
        .where('owner', '=', owner)
        .where('key', '=', key)
        .where('attempt', '=', attempt)
        .where('status', 'is', null)
        .execute()
    },
  }
}

const sweep = statement<[number], { key: string }>(
  'platform.idempotency-sweep',
  `delete from platform.idempotency where (owner, key) in
     (select owner, key from platform.idempotency where expires_at < clock_timestamp() limit $1) returning key`,
)

/** Removes what has passed; returns how many. */
export async function sweepIdempotency(db: Db<PlatformTables>, limit: number): Promise<number> {
  return (await db.run(sweep, [limit])).length
}
