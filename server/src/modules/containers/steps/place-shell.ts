import { expiryMinutesDefault } from '@switchyard/contracts/containers.ts'
import type { FileId, ProjectId } from '@switchyard/contracts/ids.ts'
import type { ShellTool } from '@switchyard/contracts/responses/tools.ts'
import type { Orgs } from '#modules/orgs/index.ts'
import { Fault } from '#platform/errors/fault.ts'
import { Readable } from 'node:stream'
import { aboutContainer } from '../domain/about.ts'
import { noSuchContainer } from '../domain/faults.ts'
import { freeFilename } from '../domain/file-names.ts'
import type { BoxFile } from '../domain/order.ts'
import { hostCommands, type HostFile, type WriteInput } from '../host/wire.ts'
import { countActive, findContainer, insertContainer, touchContainer, type ContainerRow } from '../store/containers.ts'
import { provision, discard, type InlineFile, type ProvisionUses } from './provision.ts'
import { listFilesOf } from './list-files-of.ts'
import { reachHost } from './reach-host.ts'

export interface PlaceUses extends ProvisionUses {
  readonly orgs: Pick<Orgs, 'networkPolicy' | 'findProject'>
  readonly activeMax: number
}

export interface PlaceAsked {
  readonly projectId: string
  /** Null when no record of the response is kept. */
  readonly responseId: string | null
  readonly tool: ShellTool
  /** Of the tool in the request: `tools[0]`. */
  readonly param: string
  /** Files that the messages of the request brought. */
  readonly files: readonly (InlineFile | { readonly fileId: string })[]
}

export interface Placed {
  readonly containerId: string
  /** What the model is told of it. */
  readonly about: string
  /** Those that the messages brought, in their order, under the names that they got. */
  readonly files: readonly { readonly filename: string; readonly bytes: number }[]
}

/** Reserves where the commands of a response will run. Nothing is started: that is for the first command. */
export async function placeShell(use: PlaceUses, asked: PlaceAsked): Promise<Placed> {
  const { environment } = asked.tool
  if (environment?.type === 'container_reference') return await refer(use, asked, environment.container_id)
  if (environment?.type !== 'container_auto') throw new Error('a local shell has no place here')
  const project = await use.orgs.findProject(asked.projectId as ProjectId)
  if (project === null) throw new Fault('not_found', 'No such project.')
  const made = await provision(use, {
    projectId: project.id,
    orgId: project.orgId,
    name: 'auto',
    status: 'reserved',
    responseId: asked.responseId,
    memoryLimit: environment.memory_limit ?? '1g',
    expiresMinutes: expiryMinutesDefault,
    policy: environment.network_policy,
    skills: environment.skills ?? [],
    fileIds: environment.file_ids ?? [],
    messageFiles: asked.files,
    param: `${asked.param}.environment.`,
  })
  try {
    await use.db.tx(async (tx) => {
      if ((await countActive(tx, asked.projectId)) >= use.activeMax) {
        throw new Fault('container_limit_exceeded', `A project has at most ${use.activeMax} active containers.`)
      }
      await insertContainer(tx, made)
    })
  } catch (error) {
    await discard(use, made)
    throw error
  }
  const files = made.files.slice(made.files.length - asked.files.length)
  return { containerId: made.id, about: aboutContainer(made), files }
}

/** An existing container, which the request counts as activity of. Files of the request are put there at once. */
async function refer(use: PlaceUses, { projectId, param, files }: PlaceAsked, id: string): Promise<Placed> {
  const at = `${param}.environment.container_id`
  const row = await findContainer(use.db, projectId, id)
  if (row === null) throw noSuchContainer(id, at)
  const live = row.status === 'active' ? await touchContainer(use.db, id) : null
  if (live === null) {
    throw new Fault('container_expired', `The container ${id} has expired. ${row.status_reason ?? ''}`.trim(), {
      param: at,
    })
  }
  const brought: BoxFile[] = []
  if (files.length > 0) {
    const taken = new Set((await listFilesOf(use, id)).map(({ path }) => path))
    for (const file of files) {
      const written = await write(use, row, file, taken)
      taken.add(written.path)
      brought.push({ filename: written.path, fileId: '', bytes: written.bytes })
    }
  }
  const { skills, allowed_domains: allowedDomains, secrets } = live
  return { containerId: id, about: aboutContainer({ skills, files: brought, allowedDomains, secrets }), files: brought }
}

async function write(
  use: PlaceUses,
  { id, project_id: projectId }: ContainerRow,
  file: PlaceAsked['files'][number],
  taken: ReadonlySet<string>,
): Promise<HostFile> {
  const inline = 'content' in file ? file : null
  const fileId = 'fileId' in file ? file.fileId : null
  const stored = fileId === null ? null : await use.files.open(projectId as ProjectId, fileId as FileId)
  const wanted = inline?.filename ?? stored?.filename
  if (wanted === undefined) throw new Fault('not_found', 'No such file.', { param: 'input' })
  const filename = freeFilename(wanted, taken)
  const { value } = await reachHost(use, id, (owner, order) => {
    const input: WriteInput = { order, filename, fileId }
    const body = inline === null ? {} : { body: Readable.from([inline.content]) }
    return use.mesh.ask(owner, hostCommands.writeFile, { input, ...body })
  })
  return value as HostFile
}
