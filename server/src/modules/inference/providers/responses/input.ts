import type { StoredItem } from '@switchyard/contracts/responses/items.ts'
import type { MessagePart } from '@switchyard/contracts/responses/parts.ts'
import type { DeclaredTools } from '../../domain/declared-tools.ts'
import { answerOf, callOf } from '../../domain/history.ts'
import type { SealedReasoning } from '../sealed-reasoning.ts'

/**
 * Items as they are, without what is only ours: ids and states mean nothing to a provider that stores nothing. Calls of
 * tools that the provider was told as functions are told as calls of these.
 */
export function responsesInput(items: readonly StoredItem[], tools: DeclaredTools, sealed: SealedReasoning): unknown[] {
  const callOfItem = new Map<string, string>()
  return items.flatMap((item) => {
    if (item.type === 'local_shell_call') callOfItem.set(item.id, item.call_id)
    return inputItem(item, tools, sealed, callOfItem)
  })
}

function inputItem(
  item: StoredItem,
  tools: DeclaredTools,
  sealed: SealedReasoning,
  callOfItem: ReadonlyMap<string, string>,
): unknown[] {
  switch (item.type) {
    case 'message': {
      const { type, role, content, phase } = item
      return [{ type, role, content: content.map(plainPart), ...(phase ? { phase } : {}) }]
    }
    case 'custom_tool_call':
      return [{ type: item.type, call_id: item.call_id, name: item.name, input: item.input }]
    case 'custom_tool_call_output':
      return [{ type: item.type, call_id: item.call_id, output: item.output }]
    case 'reasoning':
      return reasoningInput(item, sealed)
    default: {
      const call = callOf(item, tools)
      if (call !== null) {
        return [{ type: 'function_call', call_id: call.id, name: call.name, arguments: call.arguments }]
      }
      const answer = answerOf(item, callOfItem)
      return answer === null ? [] : [{ type: 'function_call_output', call_id: answer.id, output: answer.output }]
    }
  }
}

function plainPart(part: MessagePart): MessagePart {
  return part.type === 'output_text' ? { type: part.type, text: part.text, annotations: part.annotations } : part
}

/** A summary alone cannot be sent back: the provider keeps nothing that it could belong to. */
function reasoningInput(item: Extract<StoredItem, { type: 'reasoning' }>, sealed: SealedReasoning): unknown[] {
  const { type, id, summary, content } = item
  const opened = sealed.open(item.encrypted_content)
  if (opened !== null) return [{ type, id, summary, encrypted_content: opened }]
  return content === undefined || content.length === 0 ? [] : [{ type, id, summary, content }]
}
