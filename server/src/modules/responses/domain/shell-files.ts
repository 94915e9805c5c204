import type { StoredItem } from '@switchyard/contracts/responses/items.ts'
import type { InputFile, MessagePart } from '@switchyard/contracts/responses/parts.ts'
import { Fault } from '#platform/errors/fault.ts'
import { decodeBase64 } from '#platform/std/base64.ts'
import { partsOf } from './context.ts'

export type ShellFile = { readonly filename: string; readonly content: Buffer } | { readonly fileId: string }

/** A file as it lies under /mnt/data. */
export interface PlacedFile {
  readonly filename: string
  readonly bytes: number
}

const unnamed = 'file'

const isForShell = (part: MessagePart): part is InputFile =>
  part.type === 'input_file' && (part.file_data != null || part.file_id != null)

/** The content of a data URL, or of base64 as it is. */
function contentOf(data: string): Buffer {
  const bytes = decodeBase64(data.startsWith('data:') ? data.slice(data.indexOf(',') + 1) : data)
  if (bytes !== null) return bytes
  throw new Fault('invalid_value', 'The file_data of a file is a data URL with base64, or base64.', { param: 'input' })
}

/** What lies under /mnt/data before the first command, because an item brought it. */
export function filesForShell(items: readonly StoredItem[]): ShellFile[] {
  return items
    .flatMap(partsOf)
    .filter(isForShell)
    .map((part) =>
      part.file_data == null
        ? { fileId: part.file_id ?? '' }
        : { filename: part.filename ?? unnamed, content: contentOf(part.file_data) },
    )
}

/**
 * As items are stored: with name and size of their files in place of the content, which lives with the container only.
 * `placed` are the files that `filesForShell` found, as they were put there.
 */
export function withPlacedFiles(items: readonly StoredItem[], placed: readonly PlacedFile[]): StoredItem[] {
  let next = 0
  const named = (part: MessagePart): MessagePart => {
    if (!isForShell(part)) return part
    const { file_data: _data, ...rest } = part
    const { filename, bytes } = placed[next] ?? { filename: part.filename ?? unnamed, bytes: 0 }
    next += 1
    return { ...rest, filename, bytes }
  }
  return items.map((item) => {
    if (item.type === 'message') return { ...item, content: item.content.map(named) }
    if (item.type !== 'function_call_output' && item.type !== 'custom_tool_call_output') return item
    return typeof item.output === 'string' ? item : { ...item, output: item.output.map(named) as typeof item.output }
  })
}

/** What a model is told in place of a file that lies in its container. */
export function noteOfFile(part: MessagePart): MessagePart {
  if (part.type !== 'input_file' || part.bytes === undefined) return part
  return { type: 'input_text', text: `[The user's file ${part.filename ?? unnamed} is under /mnt/data of the shell.]` }
}
