import type { Operation } from '@switchyard/contracts/operation.ts'
import type { Db } from '#platform/db/db.ts'
import { statement } from '#platform/db/statement.ts'
import type { PlatformTables } from '#platform/db/tables.ts'
import { own, type Tx } from '#platform/db/tx.ts'
import { Fault } from '#platform/errors/fault.ts'
import type { Scope } from './principal.ts'

const keyMax = 255
const keptMs = 24 * 3_600_000
/** A reply that shows a secret is kept only as long as a retry needs. */
const secretKeptMs = 10 * 60_000
/** Longer than any create takes; after it a dead process's claim can be taken over. */
const claimMs = 60_000

/** What the store of replies needs of the deployment's keys. */
export interface ReplySealer {
  seal(plain: string, context: string): string
  open(sealed: string, context: string): Buffer
  digest(context: string, bytes: string): string
  digestMatches(context: string, bytes: string, digest: string): boolean
}

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

const claimRow = statement<
  [string, string, string, string, number, number],
  { attempt: number; digest: string; operation: string }
>(
  'platform.idempotency-claim',
  `insert into platform.idempotency as kept (owner, key, operation, digest, lease_until, expires_at)
   values ($1, $2, $3, $4, clock_timestamp() + $5 * interval '1 millisecond', clock_timestamp() + $6 * interval '1 millisecond')
   on conflict (owner, key) do update
     set attempt = kept.attempt + 1, lease_until = excluded.lease_until, expires_at = excluded.expires_at,
         operation = case when kept.expires_at < clock_timestamp() then excluded.operation else kept.operation end,
         digest = case when kept.expires_at < clock_timestamp() then excluded.digest else kept.digest end,
         status = null, reply = null
     where (kept.status is null and kept.lease_until < clock_timestamp()) or kept.expires_at < clock_timestamp()
   returning attempt, digest, operation`,
)

const keptRow = statement<[string, string], { operation: string; digest: string; reply: string | null }>(
  'platform.idempotency-kept',
  `select operation, digest, reply from platform.idempotency where owner = $1 and key = $2`,
)

/** The same body gives the same text whatever the order of its fields. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    inner !== null && typeof inner === 'object' && !Array.isArray(inner)
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
      const same = (row: { operation: string; digest: string }) =>
        row.operation === operation.id && sealer.digestMatches(context, text, row.digest)
      const keepMs = operation.showsSecret === true ? secretKeptMs : keptMs
      const [claimed] = await db.run(claimRow, [
        owner,
        key,
        operation.id,
        sealer.digest(context, text),
        claimMs,
        keepMs,
      ])
      if (claimed !== undefined) {
        const claim = openClaim(db, sealer, owner, key, context, claimed.attempt)
        if (same(claimed)) return { claim }
        await claim.release()
        throw reused()
      }
      const [kept] = await db.run(keptRow, [owner, key])
      if (kept !== undefined && !same(kept)) throw reused()
      if (kept === undefined || kept.reply === null) {
        throw new Fault('idempotency_key_in_use', 'A request with this Idempotency-Key is still running.', {
          retryAfterMs: 1_000,
        })
      }
      return { replay: JSON.parse(sealer.open(kept.reply, context).toString('utf8')) as unknown }
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
      if (kept.numUpdatedRows !== 1n) {
        throw new Fault('idempotency_key_in_use', 'Another attempt with this Idempotency-Key took over.', {
          retryAfterMs: 1_000,
        })
      }
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
