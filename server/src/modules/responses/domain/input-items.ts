import type { InputItem, ItemReference, KnownInputItem, StoredItem } from '@switchyard/contracts/responses/items.ts'
import type { CreateResponse } from '@switchyard/contracts/responses/request.ts'
import { Fault } from '#platform/errors/fault.ts'
import { newId } from '#platform/std/ids.ts'

type Given = CreateResponse['input']
type Content = Exclude<KnownInputItem, { type: 'compaction_trigger' }>

const idPrefixes: Record<StoredItem['type'], string> = {
  message: 'msg_',
  function_call: 'fc_',
  function_call_output: 'fco_',
  custom_tool_call: 'ctc_',
  custom_tool_call_output: 'ctco_',
  shell_call: 'sh_',
  shell_call_output: 'sho_',
  local_shell_call: 'lsh_',
  local_shell_call_output: 'lsho_',
  apply_patch_call: 'apc_',
  apply_patch_call_output: 'apco_',
  reasoning: 'rs_',
  compaction: 'cmp_',
}

/** What a request brought, ready to be kept: every item has an id, messages have parts. */
export interface GivenInput {
  readonly items: readonly StoredItem[]
  /** A `compaction_trigger` was the last item. */
  readonly compact: boolean
}

const isReference = (item: InputItem): item is ItemReference =>
  item.type === 'item_reference' || (item.type == null && !('role' in item))

/** Ids that the input refers to, in order. */
export function referencesOf(input: Given): string[] {
  if (input == null || typeof input === 'string') return []
  return input.filter(isReference).map(({ id }) => id)
}

/** `field` is where the items stand in the request. */
export function givenInput(input: Given, referred: ReadonlyMap<string, StoredItem>, field = 'input'): GivenInput {
  if (input == null) return { items: [], compact: false }
  if (typeof input === 'string') return { items: [userMessage(input)], compact: false }
  const items: StoredItem[] = []
  for (const [index, item] of input.entries()) {
    if (isReference(item)) {
      const found = referred.get(item.id)
      if (found === undefined) {
        throw new Fault('not_found', 'No such item.', { param: `${field}[${index}].id` })
      }
      items.push(found)
      continue
    }
    if (item.type === 'compaction_trigger') {
      if (index === input.length - 1) return { items, compact: true }
      throw new Fault('invalid_value', 'A compaction_trigger must be the last item.', { param: `${field}[${index}]` })
    }
    items.push(storedItem(item))
  }
  return { items, compact: false }
}

/** One id stands for one item: with two, neither could be paged from or referred to. */
export function checkDistinct(items: readonly StoredItem[], field = 'input'): void {
  const seen = new Set<string>()
  for (const [index, { type, id }] of items.entries()) {
    const name = `${type} ${id}`
    if (seen.has(name)) {
      throw new Fault('invalid_value', `There are two items with the id ${id}.`, { param: `${field}[${index}].id` })
    }
    seen.add(name)
  }
}

function userMessage(text: string): StoredItem {
  return {
    type: 'message',
    id: newId('msg_'),
    role: 'user',
    status: 'completed',
    content: [{ type: 'input_text', text }],
  }
}

export function storedItem(item: Content): StoredItem {
  if (item.type === 'message' || item.type === undefined) {
    const { role, content, phase } = item
    const text = role === 'assistant' ? ('output_text' as const) : ('input_text' as const)
    const parts =
      typeof content !== 'string'
        ? content
        : text === 'output_text'
          ? [{ type: text, text: content, annotations: [] }]
          : [{ type: text, text: content }]
    return {
      type: 'message',
      id: item.id ?? newId('msg_'),
      role,
      status: item.status ?? 'completed',
      content: parts,
      ...(phase == null ? {} : { phase }),
    }
  }
  const id = item.id ?? newId(idPrefixes[item.type])
  const status = item.type === 'compaction' ? {} : { status: item.status ?? 'completed' }
  return { ...item, id, ...status } as StoredItem
}
