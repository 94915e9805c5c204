import { charsPerToken } from '#platform/std/token-estimate.ts'
import type { StoredItem } from '@switchyard/contracts/responses/items.ts'
import type { Tool } from '@switchyard/contracts/responses/tools.ts'

/** What is estimated: a turn, or the parts of one that are known. */
export interface Estimated {
  readonly instructions?: string | null
  readonly items?: readonly StoredItem[]
  readonly tools?: readonly Tool[]
}

/** Roles and separators around every item. */
const charsPerItem = 16
/** Images are not text: each counts as 1,024 tokens, whatever its size. */
const charsPerImage = 4_096

/** Tokens of the input, from its characters; no model's own count, but the same for every model. */
export function estimateTokens({ instructions, items = [], tools = [] }: Estimated): number {
  let chars = instructions?.length ?? 0
  for (const item of items) chars += charsPerItem + charsIn(item)
  for (const tool of tools) chars += JSON.stringify(tool).length
  return Math.ceil(chars / charsPerToken)
}

export function tokensOf(chars: number): number {
  return Math.ceil(chars / charsPerToken)
}

/** Ids, types and sealed content are left out: the model does not read them. */
const unread = new Set(['type', 'id', 'call_id', 'status', 'role', 'encrypted_content', 'created_by', 'annotations'])

function charsIn(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 1
  if (Array.isArray(value)) return value.reduce((sum: number, one) => sum + charsIn(one), 0)
  if ((value as { type?: unknown }).type === 'input_image') return charsPerImage
  let chars = 0
  for (const name in value) {
    if (!unread.has(name)) chars += charsIn((value as Record<string, unknown>)[name])
  }
  return chars
}
