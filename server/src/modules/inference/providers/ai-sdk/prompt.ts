import type {
  LanguageModelV4Prompt,
  LanguageModelV4FilePart,
  LanguageModelV4TextPart,
  LanguageModelV4ToolResultOutput,
} from '@ai-sdk/provider'
import type { InputFile, InputImage, InputText } from '@switchyard/contracts/responses/parts.ts'
import type { DeclaredTools } from '../../domain/declared-tools.ts'
import { historyOf, type Said, type SaidCall, type SaidResult } from '../../domain/history.ts'
import type { TurnRequest } from '../../domain/turn.ts'
import type { SealedReasoning } from '../sealed-reasoning.ts'
import { thoughtOf } from './thought.ts'

type Message = LanguageModelV4Prompt[number]

/** The context as the packages take it. */
export function promptOf(
  { instructions, items }: TurnRequest,
  tools: DeclaredTools,
  sealed: SealedReasoning,
): Message[] {
  const prompt: Message[] = []
  if (instructions !== null && instructions !== '') prompt.push({ role: 'system', content: instructions })
  for (const said of historyOf(items, tools)) addSaid(prompt, said, sealed)
  return prompt
}

function addSaid(prompt: Message[], said: Said, sealed: SealedReasoning): void {
  switch (said.by) {
    case 'system':
      prompt.push(systemMessage(said.text, prompt))
      return
    case 'user':
      prompt.push({ role: 'user', content: said.parts.map(userPart) })
      return
    case 'assistant': {
      const thoughts = said.reasoning.flatMap((item) => thoughtOf(item.encrypted_content, sealed) ?? [])
      const text = said.text === '' ? [] : [{ type: 'text' as const, text: said.text }]
      const content = [...thoughts, ...text, ...said.calls.map(callPart)]
      if (content.length > 0) prompt.push({ role: 'assistant', content })
      return
    }
    case 'tools':
      prompt.push({ role: 'tool', content: said.results.map(resultPart) })
  }
}

/** These wires have one place for the system's words, the beginning; later ones are told by the user, marked. */
function systemMessage(text: string, before: readonly Message[]): Message {
  if (before.every(({ role }) => role === 'system')) return { role: 'system', content: text }
  return { role: 'user', content: [{ type: 'text', text: `<system>\n${text}\n</system>` }] }
}

function callPart({ id, name, arguments: text }: SaidCall) {
  return { type: 'tool-call' as const, toolCallId: id, toolName: name, input: inputOf(text) }
}

/** A function's arguments may be any text that a model once wrote; the wire wants an object. */
function inputOf(text: string): unknown {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : { value }
  } catch {
    return { text }
  }
}

function resultPart({ id, name, output }: SaidResult) {
  return { type: 'tool-result' as const, toolCallId: id, toolName: name, output: outputOf(output) }
}

function outputOf(output: SaidResult['output']): LanguageModelV4ToolResultOutput {
  return typeof output === 'string' ? { type: 'text', value: output } : { type: 'content', value: output.map(userPart) }
}

function userPart(part: InputText | InputImage | InputFile): LanguageModelV4TextPart | LanguageModelV4FilePart {
  if (part.type === 'input_text') return { type: 'text', text: part.text }
  if (part.type === 'input_image') return filePart(part.image_url ?? '', 'image/*')
  const filename = part.filename === undefined ? {} : { filename: part.filename }
  return { ...filePart(part.file_data ?? part.file_url ?? '', typeOfName(part.filename)), ...filename }
}

const dataUrl = /^data:([^;,]*)[^,]*;base64,/

/** A data URL, bare base64, or the address of something public. */
function filePart(source: string, mediaType: string): LanguageModelV4FilePart {
  const inline = dataUrl.exec(source)
  if (inline !== null) {
    const data = source.slice(inline[0].length)
    return { type: 'file', mediaType: inline[1] || mediaType, data: { type: 'data', data } }
  }
  if (/^https?:\/\//i.test(source) && URL.canParse(source)) {
    return { type: 'file', mediaType, data: { type: 'url', url: new URL(source) } }
  }
  return { type: 'file', mediaType, data: { type: 'data', data: source } }
}

function typeOfName(filename = ''): string {
  return /\.(txt|md|csv|json|log)$/i.test(filename) ? 'text/plain' : 'application/pdf'
}
