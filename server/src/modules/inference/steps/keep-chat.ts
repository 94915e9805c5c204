import type { ChatCompletion, CreateChatCompletion } from '@switchyard/contracts/chat-completions.ts'
import type { Db } from '#platform/db/db.ts'
import type { Tx } from '#platform/db/tx.ts'
import { storedCompletion } from '../domain/stored-completion.ts'
import { insertCompletion } from '../store/completions.ts'
import type { InferenceTables } from '../store/tables.ts'

/** Stores the answer of a call that asked for it. */
export type KeepAnswer = (answer: ChatCompletion) => Promise<void>

export interface KeptFor {
  readonly projectId: string
  readonly requestId: string
}

/** Null for a call that is not stored: it must not pay for those that are. */
export function keepAnswerOf(
  at: Pick<Db<InferenceTables>, 'run'> | Tx,
  { projectId, requestId }: KeptFor,
  body: CreateChatCompletion,
): KeepAnswer | null {
  if (body.store !== true) return null
  return (answer) => insertCompletion(at, projectId, storedCompletion(body, answer, requestId, Date.now()))
}
