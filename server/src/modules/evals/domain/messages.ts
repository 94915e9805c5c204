import type { EvalMessage, EvalPart } from '@switchyard/contracts/evals/messages.ts'
import { RowError } from './row-error.ts'
import {
  compileTemplate,
  parsePath,
  render,
  renderedMax,
  valueOf,
  variablesOf,
  type Template,
  type TemplateScope,
} from './template.ts'

/** Of what a row puts into all messages of one ask, in characters: there may be 256 times 256 parts. */
export const messagesRenderedMax = 4 * renderedMax

/** The texts of parts that are templates, whichever part has them. */
const templateFields = ['text', 'image_url', 'file_id', 'file_url', 'file_data', 'filename'] as const

/** A part whose texts are read once, for all rows; those without a variable stay as they are. */
interface CompiledPart {
  readonly part: EvalPart
  readonly texts: readonly (readonly [field: string, text: Template])[]
}

interface CompiledMessage {
  readonly role: EvalMessage['role']
  readonly parts: readonly CompiledPart[]
}

export type MessagesTemplate = readonly CompiledMessage[]

/** A message of one row. */
export interface RowMessage {
  readonly role: string
  readonly parts: readonly EvalPart[]
}

/** The parts of messages, and where the caller wrote them. */
export function* placedParts(messages: readonly EvalMessage[], param: string) {
  for (const [at, { role, content }] of messages.entries()) {
    const place = `${param}[${at}].content`
    if (!Array.isArray(content)) yield { role, part: content, place }
    else for (const [index, part] of content.entries()) yield { role, part, place: `${place}[${index}]` }
  }
}

export function templatesOfPart(part: EvalPart): [field: string, text: string][] {
  const fields: Partial<Record<string, unknown>> = part
  return templateFields.flatMap((field) => {
    const text = fields[field]
    return typeof text === 'string' ? [[field, text] as [string, string]] : []
  })
}

function compilePart(given: EvalPart): CompiledPart {
  const part: EvalPart = given.type === 'output_text' ? { type: 'input_text', text: given.text } : given
  const texts = templatesOfPart(part).map(([field, text]) => [field, compileTemplate(text)] as const)
  return { part, texts: texts.filter(([, text]) => variablesOf(text).length > 0) }
}

export function compileMessages(messages: readonly EvalMessage[]): MessagesTemplate {
  return messages.map(({ role, content }) => ({
    role,
    parts: (Array.isArray(content) ? content : [content]).map(compilePart),
  }))
}

export function renderMessages(template: MessagesTemplate, scope: TemplateScope): RowMessage[] {
  let left = messagesRenderedMax
  const fill = (text: Template): string => {
    const filled = render(text, scope)
    left -= filled.length
    if (left >= 0) return filled
    throw new RowError('template_error', `The rendered messages are longer than ${messagesRenderedMax} characters.`)
  }
  return template.map(({ role, parts }) => ({
    role,
    parts: parts.map(({ part, texts }) => {
      const rendered = texts.map(([field, text]) => [field, fill(text)] as const)
      return { ...part, ...Object.fromEntries(rendered) }
    }),
  }))
}

/** Their text, as an output item shows it. */
export const shownMessages = (messages: readonly RowMessage[]) =>
  messages.map(({ role, parts }) => ({
    role,
    content: parts
      .map((part) => (part.type === 'input_text' || part.type === 'output_text' ? part.text : `[${part.type}]`))
      .join('\n'),
  }))

const onlyText = ({ parts: [first, ...others] }: RowMessage): string | null =>
  first?.type === 'input_text' && others.length === 0 ? first.text : null

/** As `/v1/responses` takes them. */
export const asInput = (messages: readonly RowMessage[]) =>
  messages.map((message) => ({
    type: 'message',
    role: message.role,
    content:
      onlyText(message) ??
      message.parts.map((part) =>
        message.role === 'assistant' && part.type === 'input_text' ? { type: 'output_text', text: part.text } : part,
      ),
  }))

/** As `/v1/chat/completions` takes them. */
export const asChat = (messages: readonly RowMessage[]) =>
  messages.map((message) => ({ role: message.role, content: onlyText(message) ?? message.parts.map(chatPart) }))

function chatPart(part: EvalPart): object {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
      return { type: 'text', text: part.text }
    case 'input_image':
      return { type: 'image_url', image_url: { url: part.image_url, ...(part.detail ? { detail: part.detail } : {}) } }
    case 'input_file':
      return { type: 'file', file: { filename: part.filename, file_data: part.file_data } }
  }
}

/** The messages that an item holds: one text of the user, or a list that the model's wire has to accept. */
export function referredMessages(reference: string, scope: TemplateScope): unknown[] {
  const value = valueOf({ expression: reference, path: parsePath(reference) }, scope)
  if (typeof value === 'string') return [{ role: 'user', content: value }]
  if (Array.isArray(value) && value.length > 0) return value
  throw new RowError('invalid_messages', `${reference} is neither a text nor a list of messages.`)
}

/** Messages of an item, shown as text. */
export const shownReferred = (messages: readonly unknown[]) =>
  messages.map((message) => {
    const { role, content } = (message ?? {}) as { role?: unknown; content?: unknown }
    return {
      role: typeof role === 'string' ? role : 'user',
      content: typeof content === 'string' ? content : JSON.stringify(content ?? message),
    }
  })
