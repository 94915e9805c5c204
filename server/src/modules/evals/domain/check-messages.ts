import type { EvalMessage, EvalPart } from '@switchyard/contracts/evals/messages.ts'
import type { Model } from '#modules/inference/index.ts'
import { Fault } from '#platform/errors/fault.ts'
import { placedParts } from './messages.ts'

/** How messages go to their model. */
export interface Sending {
  readonly model: Pick<Model, 'id' | 'capabilities'>
  /** In the form of chat completions, which has fewer parts than that of responses. */
  readonly chat: boolean
  /** Files lie in the container of a shell: the model need not read them. */
  readonly shell: boolean
}

type Attached = Extract<EvalPart, { type: 'input_image' | 'input_file' }>

/** The field of a part that a chat completion has no place for. */
function unsaidInChat(part: Attached): string | undefined {
  if (part.type === 'input_file') {
    return (['file_id', 'file_url', 'detail', 'bytes'] as const).find((field) => part[field] != null)
  }
  return part.file_id != null ? 'file_id' : part.detail === 'original' ? 'detail' : undefined
}

const chatTakes = 'a chat completion takes images as image_url, with detail auto, low or high, and files as file_data'

function complaint(role: string, part: Attached, { model, chat, shell }: Sending): [at: string, said: string] | null {
  const { images, files } = model.capabilities
  const kind = part.type === 'input_image' ? 'images' : 'files'
  const reads = part.type === 'input_image' ? images : files || (shell && part.file_url == null)
  if (!reads) return ['', `${model.id} does not read ${kind}`]
  if (!chat) return null
  if (role !== 'user') return ['', `a chat completion takes ${kind} in messages of the user only`]
  const field = unsaidInChat(part)
  return field === undefined ? null : [`.${field}`, chatTakes]
}

/** Refuses parts that no row could send. */
export function checkMessages(messages: readonly EvalMessage[], param: string, sending: Sending): void {
  for (const { role, part, place } of placedParts(messages, param)) {
    if (part.type !== 'input_image' && part.type !== 'input_file') continue
    const found = complaint(role, part, sending)
    if (found === null) continue
    const [at, said] = found
    throw new Fault('unsupported_value', `Invalid '${place}${at}': ${said}.`, { param: `${place}${at}` })
  }
}
