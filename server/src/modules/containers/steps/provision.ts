import type { MemoryLimit, RequestNetworkPolicy, SkillEntry } from '@switchyard/contracts/containers.ts'
import type { FileId, OrgId, ProjectId } from '@switchyard/contracts/ids.ts'
import { Readable } from 'node:stream'
import type { Files } from '#modules/files/index.ts'
import type { Orgs } from '#modules/orgs/index.ts'
import { newBlobName, type Blobs } from '#platform/blobs/blobs.ts'
import { Fault } from '#platform/errors/fault.ts'
import { newId } from '#platform/std/ids.ts'
import type { Log } from '#platform/telemetry/log.ts'
import { freeFilename } from '../domain/file-names.ts'
import type { BoxFile, BoxSkill } from '../domain/order.ts'
import { memoryBytesOf } from '../domain/sizes.ts'
import { hostCommands, type ParkInput } from '../host/wire.ts'
import type { GivenSecret } from '../egress/secrets.ts'
import type { Skills } from '../skills.ts'
import type { NewContainer } from '../store/containers.ts'
import { chooseHost, hasLiveHost } from '../store/hosts.ts'
import { checkPolicy } from './check-policy.ts'
import { noRoom, type ReachUses } from './reach-host.ts'

export interface ProvisionUses extends ReachUses {
  readonly blobs: Blobs
  readonly files: Pick<Files, 'open'>
  readonly orgs: Pick<Orgs, 'networkPolicy'>
  readonly skills: Pick<Skills, 'pin'>
  readonly log: Log
}

/** A file that came with the request. */
export interface InlineFile {
  readonly filename: string
  readonly content: Buffer
}

export interface Wanted {
  readonly projectId: ProjectId
  readonly orgId: OrgId
  readonly name: string
  readonly status: 'reserved' | 'active'
  /** Not for its project to see, and not counted. */
  readonly private?: boolean
  readonly responseId: string | null
  readonly memoryLimit: MemoryLimit
  readonly expiresMinutes: number
  readonly policy: RequestNetworkPolicy | undefined
  readonly skills: readonly SkillEntry[]
  readonly fileIds: readonly string[]
  /** Files that messages brought, by id and by content. */
  readonly messageFiles: readonly (InlineFile | { readonly fileId: string })[]
  /** In front of the names of fields: `` or `tools[0].environment.`. */
  readonly param: string
}

export const inlineBlobPrefix = 'containers'
const inlineBytesMax = 64 * 1024 * 1024

/**
 * Checks everything that a container is asked to have and puts aside what would be lost: inline bytes as blobs, secrets in
 * the memory of the host that it will be on. The row, which makes it exist, is for the caller to insert.
 */
export async function provision(use: ProvisionUses, wanted: Wanted): Promise<NewContainer> {
  const { projectId, orgId, param } = wanted
  if (!(await hasLiveHost(use.db))) throw noHost()
  const policy = await checkPolicy(use.orgs, orgId, wanted.policy, `${param}network_policy`)
  const pinned = await use.skills.pin(projectId, wanted.skills, `${param}skills`)
  const referred = await findFiles(use, wanted)
  const id = newId('cntr_')
  const inlineBlobs: string[] = []
  const keep = async (bytes: Buffer) => {
    const blob = newBlobName(inlineBlobPrefix)
    await use.blobs.put(blob, Readable.from([bytes]), { bytesMax: inlineBytesMax })
    inlineBlobs.push(blob)
    return blob
  }
  try {
    const skills: BoxSkill[] = []
    for (const { name, description, mount, ...skill } of pinned) {
      if (skill.type === 'inline') {
        skills.push({ type: 'inline', name, description, mount, blob: await keep(skill.inline) })
      } else {
        const { skill_id, version, blobKey } = skill
        skills.push({ type: 'skill_reference', skill_id, version, name, description, mount, blob: blobKey })
      }
    }
    const taken = new Set<string>()
    const files: BoxFile[] = []
    for (const file of referred) {
      const filename = freeFilename(file.filename, taken)
      taken.add(filename)
      if ('fileId' in file) files.push({ filename, fileId: file.fileId, bytes: file.bytes })
      else {
        files.push({ filename, blob: await keep(file.content), bytes: file.content.length })
      }
    }
    const memoryBytes = memoryBytesOf(wanted.memoryLimit)
    return {
      id,
      projectId,
      orgId,
      name: wanted.name,
      status: wanted.status,
      responseId: wanted.responseId,
      memoryLimit: wanted.memoryLimit,
      memoryBytes,
      expiresMinutes: wanted.expiresMinutes,
      allowedDomains: policy.allowedDomains,
      secrets: policy.secrets.map(({ domain, name }) => ({ domain, name })),
      skills,
      files,
      inlineBlobs,
      hostId: policy.secrets.length === 0 ? null : await park(use, id, memoryBytes, policy.secrets),
      private: wanted.private ?? false,
    }
  } catch (error) {
    await discard(use, { inlineBlobs })
    throw error
  }
}

const noHost = () =>
  new Fault('server_overloaded', 'No sandbox host is up, so that there are no hosted containers now.', {
    retryAfterMs: 10_000,
  })

/** What was put aside for a container that came to nothing. */
export async function discard(
  use: Pick<ProvisionUses, 'blobs' | 'log'>,
  { inlineBlobs }: Pick<NewContainer, 'inlineBlobs'>,
) {
  for (const blob of inlineBlobs) {
    await use.blobs.remove(blob).catch((err: unknown) => use.log.warn({ err, blob }, 'a blob was left for the sweep'))
  }
}

/** Memory to memory: from here on the values are nowhere else. */
async function park(use: ReachUses, containerId: string, memoryBytes: number, secrets: readonly GivenSecret[]) {
  const host = await chooseHost(use.db, memoryBytes)
  if (host === null) throw noRoom()
  const input: ParkInput = { containerId, secrets }
  try {
    await use.mesh.ask(host, hostCommands.park, { input })
  } catch (error) {
    if (error instanceof Fault) throw error
    throw new Fault('server_overloaded', 'The sandbox host that was to hold the secrets does not answer.', {
      retryAfterMs: 2_000,
      cause: error,
    })
  }
  return host.id
}

type Found = { filename: string; fileId: string; bytes: number } | InlineFile

async function findFiles(use: Pick<ProvisionUses, 'files'>, wanted: Wanted): Promise<Found[]> {
  const found: Found[] = []
  const add = async (fileId: string, param: string) => {
    const file = await use.files.open(wanted.projectId, fileId as FileId)
    if (file === null) throw new Fault('not_found', 'No such file.', { param })
    found.push({ filename: file.filename, fileId, bytes: file.bytes })
  }
  for (const [at, fileId] of wanted.fileIds.entries()) await add(fileId, `${wanted.param}file_ids[${at}]`)
  for (const file of wanted.messageFiles) {
    if ('fileId' in file) await add(file.fileId, 'input')
    else found.push(file)
  }
  return found
}
