import type { StoredItem } from '@switchyard/contracts/responses/items.ts'

/**
 * Items for a statement that stores them: their ids, and themselves as text. PostgreSQL takes nothing out of JSON that has
 * U+0000 or half a surrogate pair anywhere in it, and models say both.
 */
export const itemRows = (items: readonly StoredItem[]): string =>
  JSON.stringify(items.map((item) => ({ id: item.id, item: JSON.stringify(item) })))
