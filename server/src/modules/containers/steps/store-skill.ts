import type { SkillVersionId } from '@switchyard/contracts/ids.ts'
import { newBlobName, type Blobs } from '#platform/blobs/blobs.ts'
import { newId } from '#platform/std/ids.ts'
import type { SkillIdentity } from '../archive/front-matter.ts'
import type { NewVersion } from '../store/skills.ts'
import type { PackedSkill } from './pack-skill.ts'

/** All blobs of skills begin with it; the sweep of orphans looks nowhere else. */
export const skillBlobPrefix = 'skills'

/** Stores the zip of a version. The row that names it comes after; a blob without a row is swept. */
export async function storeSkill(
  blobs: Blobs,
  { zip, unpackedBytes, files, name, description }: PackedSkill & SkillIdentity,
  signal: AbortSignal,
): Promise<NewVersion> {
  const blob = newBlobName(skillBlobPrefix)
  await blobs.put(blob, oneChunk(zip), { bytesMax: zip.length, signal })
  return {
    id: newId<SkillVersionId>('skillver_'),
    name,
    description,
    blob,
    bytes: zip.length,
    unpacked_bytes: unpackedBytes,
    files,
  }
}

async function* oneChunk(bytes: Buffer): AsyncGenerator<Uint8Array> {
  yield bytes
}
