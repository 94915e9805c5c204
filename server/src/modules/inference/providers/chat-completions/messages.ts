import type { InputFile, InputImage, InputText } from '@switchyard/contracts/responses/parts.ts'
import { historyOf, type Said, type SaidResult } from '../../domain/history.ts'
import type { DeclaredTools } from '../../domain/declared-tools.ts'
import type { TurnRequest } from '../../domain/turn.ts'

export type ChatMessage = Readonly<Record<string, unknown>> & { readonly role: string }

/** The context as chat messages. Reasoning of earlier turns has no place on this wire. */
export function chatMessages({ instructions, items }: TurnRequest, tools: DeclaredTools): ChatMessage[] {
  const messages: ChatMessage[] = []
  if (instructions !== null && instructions !== '') messages.push({ role: 'system', content: instructions })
  for (const said of historyOf(items, tools)) addSaid(messages, said)
  return messages
}

function addSaid(messages: ChatMessage[], said: Said): void {
  switch (said.by) {
    case 'system':
      // Many servers know no developer role, and all take system for the same.
      messages.push({ role: 'system', content: said.text })
      return
    case 'user':
      messages.push({ role: 'user', content: contentOf(said.parts) })
      return
    case 'assistant': {
      if (said.calls.length > 0) messages.push(withCalls(said))
      else if (said.text !== '' || said.reasoning.length === 0) messages.push({ role: 'assistant', content: said.text })
      return
    }
    case 'tools':
      addResults(messages, said.results)
  }
}

function withCalls({ text, calls }: Extract<Said, { by: 'assistant' }>): ChatMessage {
  return {
    role: 'assistant',
    content: text === '' ? null : text,
    tool_calls: calls.map((call) => ({
      id: call.id,
      type: 'function',
      function: { name: call.name, arguments: call.arguments },
    })),
  }
}

/** Answers of tools are text on this wire: images and files follow, all together, as if the user had shown them. */
function addResults(messages: ChatMessage[], results: readonly SaidResult[]): void {
  const shown: (InputText | InputImage | InputFile)[] = []
  for (const { id, output } of results) {
    if (typeof output === 'string') {
      messages.push({ role: 'tool', tool_call_id: id, content: output })
      continue
    }
    const text = output.flatMap((part) => (part.type === 'input_text' ? [part.text] : []))
    const rest = output.filter((part) => part.type !== 'input_text')
    if (rest.length > 0) {
      text.push('(Its images and files follow.)')
      shown.push({ type: 'input_text', text: `What call ${id} gave:` }, ...rest)
    }
    messages.push({ role: 'tool', tool_call_id: id, content: text.join('\n') })
  }
  if (shown.length > 0) messages.push({ role: 'user', content: contentOf(shown) })
}

function contentOf(parts: readonly (InputText | InputImage | InputFile)[]): unknown {
  const [only] = parts
  if (parts.length === 1 && only?.type === 'input_text') return only.text
  return parts.map(contentPart)
}

function contentPart(part: InputText | InputImage | InputFile): unknown {
  switch (part.type) {
    case 'input_text':
      return { type: 'text', text: part.text }
    case 'input_image': {
      const detail = part.detail === undefined || part.detail === 'original' ? {} : { detail: part.detail }
      return { type: 'image_url', image_url: { url: part.image_url ?? '', ...detail } }
    }
    case 'input_file':
      return {
        type: 'file',
        file: {
          ...(part.filename === undefined ? {} : { filename: part.filename }),
          ...(part.file_data === undefined ? { file_url: part.file_url } : { file_data: part.file_data }),
        },
      }
  }
}
