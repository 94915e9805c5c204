import type { StoredItem } from '@switchyard/contracts/responses/items.ts'
import type { InputFile, MessagePart } from '@switchyard/contracts/responses/parts.ts'
import { partsOf } from './context.ts'

export type ShellFile = { readonly filename: string; readonly base64: string } | { readonly fileId: string }

const unnamed = 'file'

/** The content of a data URL, or base64 as it is. */
const base64Of = (data: string) => (data.startsWith('data:') ? data.slice(data.indexOf(',') + 1) : data)

/** What lies under /mnt/data before the first command, because a message brought it. */
export function filesForShell(items: readonly StoredItem[]): ShellFile[] {
  return items.flatMap(partsOf).flatMap((part): ShellFile[] => {
    if (part.type !== 'input_file') return []
    if (part.file_data != null) return [{ filename: part.filename ?? unnamed, base64: base64Of(part.file_data) }]
    return part.file_id == null ? [] : [{ fileId: part.file_id }]
  })
}

/** As it is stored: with name and size in place of the content, which lives with the container only. */
export function withoutFileBytes(item: StoredItem): StoredItem {
  if (item.type !== 'message') return item
  return { ...item, content: item.content.map(withoutBytes) }
}

function withoutBytes(part: MessagePart): MessagePart {
  if (part.type !== 'input_file' || (part.file_data == null && part.file_id == null)) return part
  const { file_data: data, ...rest }: InputFile = part
  const bytes = data == null ? 0 : Buffer.byteLength(base64Of(data), 'base64')
  return { ...rest, filename: part.filename ?? (part.file_id == null ? unnamed : part.file_id), bytes }
}

/** What a model is told in place of a file that lies in its container. */
export function noteOfFile(part: MessagePart): MessagePart {
  if (part.type !== 'input_file' || part.bytes === undefined) return part
  return { type: 'input_text', text: `[The user's file ${part.filename ?? unnamed} is under /mnt/data of the shell.]` }
}
