import type { FileId, ProjectId } from '@switchyard/contracts/ids.ts'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Readable } from 'node:stream'
import type { Files } from '#modules/files/index.ts'
import { BlobMissing, type Blobs } from '#platform/blobs/blobs.ts'
import { Fault } from '#platform/errors/fault.ts'
import type { BoxFile, BoxOrder, BoxSkill } from '../domain/order.ts'
import type { Box } from './box.ts'
import { unpackSkill } from './unpack-skill.ts'

export interface FillUses {
  readonly blobs: Blobs
  readonly files: Pick<Files, 'open'>
  readonly uid: number
}

/** Puts what was asked for in its place, before the first command. */
export async function fillBox(use: FillUses, box: Box, order: BoxOrder): Promise<void> {
  for (const skill of order.skills) await mountSkill(use, box, skill)
  const uploads: Record<string, number> = {}
  for (const file of order.files) {
    const source = await openSource(use, order.projectId, file)
    const { modifiedMs } = await box.files.write(file.filename, { uid: use.uid }, source)
    uploads[file.filename] = modifiedMs
  }
  if (order.files.length > 0) await box.write({ uploads })
}

async function mountSkill({ blobs }: FillUses, box: Box, skill: BoxSkill): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of await read(blobs, skill.blob, `the skill ${skill.name}`)) chunks.push(chunk as Buffer)
  const folder = join(box.folder.skills, skill.mount)
  await mkdir(folder, { mode: 0o755 })
  await unpackSkill(Buffer.concat(chunks), folder)
}

async function openSource(use: FillUses, projectId: string, file: BoxFile): Promise<Readable> {
  if ('blob' in file) return await read(use.blobs, file.blob, `the file ${file.filename}`)
  const opened = await use.files.open(projectId as ProjectId, file.fileId as FileId)
  if (opened === null) throw gone(`the file ${file.fileId}`)
  return await opened.stream()
}

async function read(blobs: Blobs, blob: string, what: string): Promise<Readable> {
  try {
    return await blobs.read(blob)
  } catch (error) {
    if (error instanceof BlobMissing) throw gone(what)
    throw error
  }
}

const gone = (what: string) => new Fault('not_found', `The container cannot be made: ${what} was deleted meanwhile.`)
