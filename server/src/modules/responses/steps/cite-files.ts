import type { Annotation } from '@switchyard/contracts/responses/parts.ts'
import { posix } from 'node:path'
import type { ContainerShell } from '#modules/containers/index.ts'
import { containerOf } from '../domain/call-item.ts'
import { mentionsOf } from '../domain/file-mentions.ts'
import type { LiveResponse } from '../domain/live-response.ts'

/** Which files of its container a message names. Without a command there was nobody to write one. */
export async function citations(
  shell: Pick<ContainerShell, 'files'>,
  { asked, output }: LiveResponse,
  text: string | null,
): Promise<Annotation[]> {
  const containerId = containerOf(asked.shellPlace)
  if (containerId === null || text === null || !text.includes('/mnt/data/')) return []
  if (!output.some(({ type }) => type === 'shell_call_output')) return []
  // A message without its links is worth more than none.
  const files = await shell.files(containerId).catch(() => [])
  return mentionsOf(text, files).map(({ file, start, end }) => ({
    type: 'container_file_citation',
    container_id: containerId,
    file_id: file.id,
    filename: posix.basename(file.path),
    start_index: start,
    end_index: end,
  }))
}
