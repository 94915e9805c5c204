import type { EvalMessage, EvalPart } from '@switchyard/contracts/evals/messages.ts'
import { RowError } from './row-error.ts'
import { compileTemplate, parsePath, render, valueOf, type Template, type TemplateScope } from './template.ts'

/** A part whose texts are read once, for all rows. */
type CompiledPart =
  | { readonly kind: 'text'; readonly text: Template }
  | { readonly kind: 'image'; readonly part: Extract<EvalPart, { type: 'input_image' }>; readonly url: Template | null }
  | { readonly kind: 'file'; readonly part: Extract<EvalPart, { type: 'input_file' }> }

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

function compilePart(part: EvalPart): CompiledPart {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
      return { kind: 'text', text: compileTemplate(part.text) }
    case 'input_image':
      return { kind: 'image', part, url: part.image_url == null ? null : compileTemplate(part.image_url) }
    case 'input_file':
      return { kind: 'file', part }
  }
}

export function compileMessages(messages: readonly EvalMessage[]): MessagesTemplate {
  return messages.map(({ role, content }) => ({
    role,
    parts: (Array.isArray(content) ? content : [content]).map(compilePart),
  }))
}

export function renderMessages(template: MessagesTemplate, scope: TemplateScope): RowMessage[] {
  return template.map(({ role, parts }) => ({
    role,
    parts: parts.map((part): EvalPart => {
      if (part.kind === 'text') return { type: 'input_text', text: render(part.text, scope) }
      if (part.kind === 'file') return part.part
      return part.url === null ? part.part : { ...part.part, image_url: render(part.url, scope) }
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
