import { CompiledQuery, type Kysely, type Transaction } from 'kysely'
import type { Statement } from './statement.ts'

/** An open transaction, handed down from the route or step that opened it. */
export class Tx {
  readonly #transaction: Transaction<unknown>
  readonly #hooks: (() => void)[] = []

  constructor(transaction: Transaction<unknown>) {
    this.#transaction = transaction
  }

  /** Runs after the commit, never after a rollback. Must not throw and must not be relied upon: a crash skips it. */
  afterCommit(hook: () => void): void {
    this.#hooks.push(hook)
  }

  /** Every hook has its turn: what is committed stays committed, whatever one of them does. */
  committed(onHookFailed: (error: unknown) => void): void {
    for (const hook of this.#hooks) {
      try {
        hook()
      } catch (error) {
        onHookFailed(error)
      }
    }
  }

  /** A query that is also run outside of transactions. */
  async run<Params extends readonly unknown[], Row>(statement: Statement<Params, Row>, params: Params): Promise<Row[]> {
    const result = await this.#transaction.executeQuery<Row>(CompiledQuery.raw(statement.text, [...params]))
    return result.rows
  }

  tables<Tables>(): Kysely<Tables> {
    return this.#transaction as unknown as Kysely<Tables>
  }
}

/** The tables of one module inside a transaction. */
export function own<Tables>(tx: Tx): Kysely<Tables> {
  return tx.tables<Tables>()
}
