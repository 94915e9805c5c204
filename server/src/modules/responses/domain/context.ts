import type { StoredItem } from '@switchyard/contracts/responses/items.ts'
import type { MessagePart } from '@switchyard/contracts/responses/parts.ts'

/** Sealed inside a compaction item: what stands for everything before it. */
export interface Summary {
  readonly summary: string
  /** User messages that are kept word for word. */
  readonly kept: readonly StoredItem[]
}

type CompactionItem = Extract<StoredItem, { type: 'compaction' }>

/** Everything that an item says in parts: a message, or the answer of a tool. */
export function partsOf(item: StoredItem): readonly MessagePart[] {
  if (item.type === 'message') return item.content
  if (item.type !== 'function_call_output' && item.type !== 'custom_tool_call_output') return []
  return typeof item.output === 'string' ? [] : item.output
}

/** What a model is shown: from the last compaction on, which itself becomes what it stands for. */
export function modelContext(
  items: readonly StoredItem[],
  open: (item: CompactionItem) => Summary,
): readonly StoredItem[] {
  const at = items.findLastIndex((item) => item.type === 'compaction')
  const compaction = items[at]
  if (compaction?.type !== 'compaction') return items
  const { summary, kept } = open(compaction)
  const told: StoredItem = {
    type: 'message',
    id: compaction.id,
    role: 'developer',
    status: 'completed',
    content: [{ type: 'input_text', text: `Summary of the conversation so far:\n\n${summary}` }],
  }
  return [...kept, told, ...items.slice(at + 1)]
}

/**
 * Drops the oldest items until the rest fits. A call and its output go together: a provider refuses one without the
 * other. The last item always stays.
 */
export function truncated(
  items: readonly StoredItem[],
  fits: (items: readonly StoredItem[]) => boolean,
): readonly StoredItem[] {
  if (fits(items)) return items
  let low = 1
  let high = Math.max(1, items.length - 1)
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    if (fits(items.slice(middle))) high = middle
    else low = middle + 1
  }
  return withoutOrphans(items.slice(low))
}

function withoutOrphans(items: readonly StoredItem[]): readonly StoredItem[] {
  const calls = new Set<string>()
  return items.filter((item, index) => {
    if (item.type === 'local_shell_call') calls.add(item.id)
    if ('call_id' in item && !item.type.endsWith('_output')) calls.add(item.call_id)
    if (!item.type.endsWith('_output') || index === items.length - 1) return true
    return calls.has('call_id' in item ? item.call_id : (item.id ?? ''))
  })
}
