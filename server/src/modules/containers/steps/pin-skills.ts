import type { SkillEntry } from '@switchyard/contracts/containers.ts'
import type { ProjectId } from '@switchyard/contracts/ids.ts'
import { skillBytesMax } from '@switchyard/contracts/skills.ts'
import type { Db } from '#platform/db/db.ts'
import { Fault } from '#platform/errors/fault.ts'
import { decodeBase64 } from '#platform/std/base64.ts'
import { mountName } from '../domain/skills/mount-name.ts'
import { readVersion } from '../domain/skills/version-choice.ts'
import type { SkillTables } from '../store/skill-tables.ts'
import { findVersion } from '../store/skills.ts'
import type { Packing } from './pack-skill.ts'

/** They lie on the disk of the host, outside the quota of the container. */
const mountedBytesMax = 4 * skillBytesMax

interface PinnedIdentity {
  readonly name: string
  readonly description: string
  /** The name of its folder below `/mnt/skills`. */
  readonly mount: string
  readonly unpackedBytes: number
}

/** A skill as a request meant it at the moment it was made: from here on nothing that happens to the skill moves it. */
export type PinnedSkill = PinnedIdentity &
  (
    | {
        readonly type: 'skill_reference'
        readonly skill_id: string
        readonly version: string
        readonly blobKey: string
        readonly bytes: number
      }
    /** The zip that was written of the one sent; stored nowhere yet. */
    | { readonly type: 'inline'; readonly inline: Buffer }
  )

export interface PinUses {
  readonly db: Db<SkillTables>
  readonly packing: Packing
}

type Reference = Extract<SkillEntry, { type: 'skill_reference' }>
type Inline = Extract<SkillEntry, { type: 'inline' }>

/** Resolves and checks the `skills` of a request; `param` is the path at which they stand in it. */
export async function pinSkills(
  use: PinUses,
  projectId: ProjectId,
  entries: readonly SkillEntry[],
  param: string,
): Promise<PinnedSkill[]> {
  const pinned: PinnedSkill[] = []
  const mounts = new Set<string>()
  let bytes = 0
  for (const [index, entry] of entries.entries()) {
    const at = `${param}[${index}]`
    const skill =
      entry.type === 'skill_reference'
        ? await pinReference(use.db, projectId, entry, at)
        : await pinInline(use.packing, entry, at)
    if (mounts.has(skill.mount)) {
      throw new Fault('invalid_value', `Two skills would both be mounted as '${skill.mount}'.`, {
        param: `${at}.${entry.type === 'skill_reference' ? 'skill_id' : 'name'}`,
      })
    }
    mounts.add(skill.mount)
    bytes += skill.unpackedBytes
    if (bytes > mountedBytesMax) {
      throw new Fault('invalid_value', `The skills of a container unpack to at most ${mountedBytesMax} bytes.`, {
        param,
      })
    }
    pinned.push(skill)
  }
  return pinned
}

async function pinReference(
  db: Db<SkillTables>,
  projectId: ProjectId,
  { skill_id, version }: Reference,
  at: string,
): Promise<PinnedSkill> {
  const choice = version === undefined ? 'default' : readVersion(version)
  if (choice === null) {
    throw new Fault('invalid_value', "A version is a positive integer or 'latest'.", { param: `${at}.version` })
  }
  const row = await findVersion(db, projectId, skill_id, choice)
  if (row === null) {
    const known = version !== undefined && (await findVersion(db, projectId, skill_id, 'default')) !== null
    throw known
      ? new Fault('not_found', 'The skill has no such version.', { param: `${at}.version` })
      : new Fault('not_found', 'No such skill.', { param: `${at}.skill_id` })
  }
  return {
    type: 'skill_reference',
    skill_id,
    version: String(row.version),
    name: row.name,
    description: row.description,
    mount: mountName(row.name),
    unpackedBytes: row.unpacked_bytes,
    blobKey: row.blob,
    bytes: row.bytes,
  }
}

async function pinInline(packing: Packing, { name, description, source }: Inline, at: string): Promise<PinnedSkill> {
  const param = `${at}.source.data`
  const { zip, unpackedBytes } = await packing.archive(decode(source.data, param), param)
  return { type: 'inline', name, description, mount: mountName(name), unpackedBytes, inline: zip }
}

function decode(data: string, param: string): Buffer {
  const bytes = decodeBase64(data)
  if (bytes === null) throw new Fault('invalid_value', 'The data is not base64.', { param })
  return bytes
}
