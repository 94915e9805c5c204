import type { FileId, ProjectId } from '@switchyard/contracts/ids.ts'
import type { StoredItem } from '@switchyard/contracts/responses/items.ts'
import type { MessagePart, ToolOutputPart } from '@switchyard/contracts/responses/parts.ts'
import type { Inference } from '#modules/inference/index.ts'
import { Fault } from '#platform/errors/fault.ts'
import { SealBroken, type Sealer } from '#platform/secrets/seal.ts'
import { modelContext, partsOf, truncated, type Summary } from '../domain/context.ts'
import { noteOfFile } from '../domain/shell-files.ts'
import type { Asked } from '../domain/asked.ts'
import type { LiveResponse } from '../domain/live-response.ts'

/** What the files module tells of a file. */
export interface FileReader {
  read(projectId: ProjectId, fileId: FileId): Promise<{ filename: string; mimeType: string; base64: string } | null>
  isReadable(projectId: ProjectId, fileId: FileId): Promise<boolean>
}

export interface ContextReader {
  /** What a model is shown of a response: after the last compaction, cut to size, with files in place of their ids. */
  forModel(live: LiveResponse): Promise<readonly StoredItem[]>
  /** Tokens of the same, by estimate. */
  tokens(
    projectId: string,
    asked: Pick<Asked, 'model' | 'instructions' | 'tools'>,
    items: readonly StoredItem[],
  ): number
  seal(projectId: string, summary: Summary): string
  sealReasoning(projectId: string, text: string): string
  /** Throws when a compaction item was made by somebody else. */
  check(projectId: string, items: readonly StoredItem[], param?: string): void
  /** Throws when an item names a file that the project does not have. */
  checkFiles(projectId: string, items: readonly StoredItem[], param?: string): Promise<void>
}

const summaryContext = (projectId: string) => `responses.compaction:${projectId}`
const reasoningContext = (projectId: string) => `responses.reasoning:${projectId}`

export function createContextReader(use: {
  readonly inference: Pick<Inference, 'estimateTokens' | 'getModel'>
  readonly files: FileReader
  readonly sealer: Pick<Sealer, 'seal' | 'open'>
}): ContextReader {
  const open =
    (projectId: string, param = 'input') =>
    (item: { encrypted_content: string }) => {
      try {
        return JSON.parse(use.sealer.open(item.encrypted_content, summaryContext(projectId)).toString()) as Summary
      } catch (error) {
        if (!(error instanceof SealBroken)) throw error
        throw new Fault(
          'invalid_encrypted_content',
          'A compaction item was not made by this server for this project, or was changed on the way.',
          { param, cause: error },
        )
      }
    }
  const estimate = (asked: Pick<Asked, 'instructions' | 'tools'>, items: readonly StoredItem[]) =>
    use.inference.estimateTokens({ instructions: asked.instructions, items, tools: asked.tools })

  return {
    async forModel({ projectId, asked, context, output }) {
      let items = modelContext([...context, ...output], open(projectId))
      const { contextWindow } = use.inference.getModel(asked.model)
      if (asked.truncation === 'auto') items = truncated(items, (rest) => estimate(asked, rest) <= contextWindow)
      return await withFiles(use.files, projectId, items)
    },
    tokens: (projectId, asked, items) => estimate(asked, modelContext(items, open(projectId))),
    seal: (projectId, summary) => use.sealer.seal(JSON.stringify(summary), summaryContext(projectId)),
    sealReasoning: (projectId, text) => use.sealer.seal(text, reasoningContext(projectId)),
    check(projectId, items, param) {
      for (const item of items) if (item.type === 'compaction') open(projectId, param)(item)
    },
    checkFiles: (projectId, items, param = 'input') => checkFiles(use.files, projectId, items, param),
  }
}

const filesMax = 256

async function checkFiles(
  files: FileReader,
  projectId: string,
  items: readonly StoredItem[],
  param: string,
): Promise<void> {
  const ids = new Set(items.flatMap(partsOf).flatMap((part) => fileIdOf(part) ?? []))
  if (ids.size > filesMax) throw new Fault('invalid_value', `A request names at most ${filesMax} files.`, { param })
  for (const id of ids) {
    if (!(await files.isReadable(projectId as ProjectId, id as FileId))) throw noSuchFile(param)
  }
}

const noSuchFile = (param: string) => new Fault('not_found', 'No such file.', { param })

const fileIdOf = (part: MessagePart) => ('file_id' in part ? (part.file_id ?? null) : null)

async function withFiles(
  files: FileReader,
  projectId: string,
  items: readonly StoredItem[],
): Promise<readonly StoredItem[]> {
  if (!items.flatMap(partsOf).some((part) => fileIdOf(part) !== null || isElsewhere(part))) return items
  const filled = (parts: readonly MessagePart[]) => Promise.all(parts.map((part) => withFile(files, projectId, part)))
  return await Promise.all(
    items.map(async (item): Promise<StoredItem> => {
      if (item.type === 'message') return { ...item, content: await filled(item.content) }
      if (item.type !== 'function_call_output' && item.type !== 'custom_tool_call_output') return item
      return typeof item.output === 'string'
        ? item
        : { ...item, output: (await filled(item.output)) as ToolOutputPart[] }
    }),
  )
}

const isElsewhere = (part: MessagePart) => part.type === 'input_file' && part.bytes !== undefined

async function withFile(files: FileReader, projectId: string, part: MessagePart): Promise<MessagePart> {
  if (isElsewhere(part)) return noteOfFile(part)
  if ((part.type !== 'input_image' && part.type !== 'input_file') || part.file_id == null) return part
  const file = await files.read(projectId as ProjectId, part.file_id as FileId)
  if (file === null) throw noSuchFile('input')
  const url = `data:${file.mimeType};base64,${file.base64}`
  const { file_id: _id, ...rest } = part
  if (rest.type === 'input_image') return { ...rest, image_url: url }
  return { ...rest, filename: rest.filename ?? file.filename, file_data: url }
}
