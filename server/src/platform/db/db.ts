import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import { assert } from '#platform/std/assert.ts'
import { Tx } from './tx.ts'
import type { Statement } from './statement.ts'

export interface DatabaseOptions {
  readonly url: string
  readonly connectionsMax: number
  readonly statementTimeoutMs: number
  readonly applicationName: string
  /** Something failed that no caller waits for, such as an idle connection when the server restarts. For the log. */
  readonly onIdleError: (error: Error) => void
}

const connectTimeoutMs = 5_000
const idleConnectionMs = 30_000
/** A server that is gone without a word does not time its own statements out: then we do, a little later. */
const silentServerMs = 5_000
const int8Oid = 20
const int8ArrayOid = 1016
const numericOid = 1700

/** One pool a process. A module sees it as `Db<ItsTables>`, so the compiler refuses someone else's table. */
export interface Db<Tables> {
  readonly kysely: Kysely<Tables>
  /** One decision, all or nothing. Hooks added with `tx.afterCommit` run once it is durable. */
  tx<Result>(decide: (tx: Tx) => Promise<Result>): Promise<Result>
  /** A hot query: text fixed at start, planned once a connection. */
  run<Params extends readonly unknown[], Row>(statement: Statement<Params, Row>, params: Params): Promise<Row[]>
}

export interface Database extends Db<unknown> {
  as<Tables>(): Db<Tables>
  /** PostgreSQL's clock, which decides expiry, leases and due times. */
  now(): Promise<Date>
  close(): Promise<void>
}

/** Sizes and counts come back as numbers; one beyond 2^53 would be a fault of ours, not a rounding. */
function parseInteger(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new Error(`integer out of range: ${text}`)
  return value
}

/** The driver's own types name only some of the numbers that it knows. */
const parserOf = (oid: number, format?: 'text') =>
  (pg.types.getTypeParser as (oid: number, format?: 'text') => (text: string) => unknown)(oid, format)

function parseIntegers(text: string): (number | null)[] {
  const texts = parserOf(int8ArrayOid)(text) as (string | null)[]
  return texts.map((one) => (one === null ? null : parseInteger(one)))
}

/** A sum of integers is numeric too, and as exact. */
function parseNumeric(text: string): number {
  return /^-?\d+$/.test(text) ? parseInteger(text) : Number(text)
}

const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text') => {
    if (oid === int8Oid) return parseInteger
    if (oid === numericOid) return parseNumeric
    if (oid === int8ArrayOid) return parseIntegers
    return parserOf(oid, format)
  }) as typeof pg.types.getTypeParser,
}

/**
 * A finished query rather than a description of one, which the driver would copy property by property: that measured
 * 2 us a query, more than all else it does before sending.
 */
function namedQuery(statement: { name: string; text: string }, params: readonly unknown[]): pg.Query {
  return Object.assign(new pg.Query(statement.text, [...params]), { name: statement.name })
}

export function openDatabase(options: DatabaseOptions): Database {
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.connectionsMax,
    connectionTimeoutMillis: connectTimeoutMs,
    idleTimeoutMillis: idleConnectionMs,
    statement_timeout: options.statementTimeoutMs,
    idle_in_transaction_session_timeout: options.statementTimeoutMs,
    query_timeout: options.statementTimeoutMs + silentServerMs,
    keepAlive: true,
    application_name: options.applicationName,
    types,
  })
  pool.on('error', options.onIdleError)
  // A connection that is lost between two queries of a transaction says so here, and to nobody else until the next
  // query fails. An error event that nobody listens to would end the process.
  pool.on('connect', (client) => client.on('error', () => undefined))
  const kysely = new Kysely<unknown>({ dialect: new PostgresDialect({ pool }) })

  const onHookFailed = (cause: unknown) =>
    options.onIdleError(new Error('a hook failed after its transaction was committed', { cause }))

  const database: Database = {
    kysely,
    as: <Tables>() => database as unknown as Db<Tables>,
    async tx(decide) {
      let opened: Tx | undefined
      let refused: { error: unknown } | undefined
      try {
        const result = await kysely.transaction().execute(async (transaction) => {
          opened = new Tx(transaction)
          try {
            return await decide(opened)
          } catch (error) {
            refused = { error }
            throw error
          }
        })
        opened?.committed(onHookFailed)
        return result
      } catch (error) {
        // On a lost connection the rollback fails as well; the reason is what failed first.
        throw refused === undefined ? error : refused.error
      }
    },
    async run<Params extends readonly unknown[], Row>(statement: Statement<Params, Row>, params: Params) {
      // The pool answers a finished query with a promise too, which its types do not say.
      const result = await (pool.query(namedQuery(statement, params)) as unknown as Promise<{ rows: Row[] }>)
      return result.rows
    },
    async now() {
      const result = await pool.query<{ now: Date }>('select clock_timestamp() as now')
      const [row] = result.rows
      assert(row !== undefined, 'select of one value gives one row')
      return row.now
    },
    async close() {
      // This ends the pool it was given, but only if a query was ever built: named statements do not count.
      await kysely.destroy()
      if (!pool.ending) await pool.end()
    },
  }
  return database
}
