import type { InputItem, StoredItem } from '@switchyard/contracts/responses/items.ts'
import type { Db } from '#platform/db/db.ts'
import { Fault } from '#platform/errors/fault.ts'
import { checkDistinct, givenInput, referencesOf } from '../domain/input-items.ts'
import { findItems } from '../store/responses.ts'
import type { ResponsesTables } from '../store/tables.ts'
import type { ContextReader } from './read-context.ts'

export interface BringUses {
  readonly db: Db<ResponsesTables>
  readonly context: Pick<ContextReader, 'check' | 'checkFiles'>
}

/** Items that a client puts into a conversation itself, ready to be kept. */
export async function bringItems(
  use: BringUses,
  projectId: string,
  given: readonly InputItem[],
): Promise<readonly StoredItem[]> {
  const referred = await findItems(use.db, projectId, referencesOf([...given]))
  const { items, compact } = givenInput([...given], referred, 'items')
  if (compact) {
    throw new Fault('invalid_value', 'A compaction_trigger belongs in the input of a response.', {
      param: `items[${items.length}].type`,
    })
  }
  use.context.check(projectId, items, 'items')
  await use.context.checkFiles(projectId, items, 'items')
  checkDistinct(items, 'items')
  return items
}

export const sameId = (index: number) =>
  new Fault('invalid_value', 'An item with this id is in the conversation already.', { param: `items[${index}].id` })
