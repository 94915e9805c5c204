import type { Db } from '#platform/db/db.ts'

export interface SentStatement {
  readonly name: string
  readonly text: string
}

/** The statement that a store sends, taken from the store itself, so that a twin can never ask something easier. */
export async function sentStatement<Tables>(ask: (db: Db<Tables>) => Promise<unknown>): Promise<SentStatement> {
  const sent: SentStatement[] = []
  const recorder = {
    async run(statement: SentStatement) {
      sent.push({ name: statement.name, text: statement.text })
      return []
    },
  }
  await ask(recorder as unknown as Db<Tables>)
  const [only, ...more] = sent
  if (only === undefined || more.length > 0) throw new Error(`a store sent ${sent.length} statements instead of one`)
  return only
}
