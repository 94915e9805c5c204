import {
  createContainerFile,
  deleteContainerFile,
  listContainerFiles,
  retrieveContainerFile,
  retrieveContainerFileContent,
} from '@switchyard/contracts/containers.ts'
import { pageView } from '@switchyard/contracts/page.ts'
import { createHash } from 'node:crypto'
import { posix } from 'node:path'
import { Readable } from 'node:stream'
import { Fault } from '#platform/errors/fault.ts'
import type { MeshOwner } from '#platform/mesh/command.ts'
import { BinaryReply } from '#platform/http/binary-reply.ts'
import { route, uploadRoute, type IncomingFile } from '#platform/http/route.ts'
import { attachmentHeaders } from '#platform/http/attachment.ts'
import { containerFileId, containerFileView, type ListedFile } from '../domain/file-id.ts'
import type { BoxOrder } from '../domain/order.ts'
import { ContainerLost } from '../domain/lost.ts'
import { hostCommands, type FileInput, type HostFile, type WriteInput } from '../host/wire.ts'
import { listFilesOf } from '../steps/list-files-of.ts'
import { reachHost, type ReachUses } from '../steps/reach-host.ts'
import { findContainer, touchContainer, type ContainerRow } from '../store/containers.ts'
import { containerGone, noSuchContainer, noSuchFile, toldAsGone } from '../domain/faults.ts'

async function getContainer(use: ReachUses, projectId: string, id: string): Promise<ContainerRow> {
  const row = await findContainer(use.db, projectId, id)
  if (row === null) throw noSuchContainer(id)
  return row
}

async function getActive(use: ReachUses, projectId: string, id: string): Promise<ContainerRow> {
  const row = await getContainer(use, projectId, id)
  if (row.status !== 'active') throw containerGone(id)
  return row
}

/** Found by walking: an id is made of the path, and nothing has to remember which. */
async function getFile(use: ReachUses, containerId: string, fileId: string): Promise<ListedFile> {
  const files = await listFilesOf(use, containerId).catch(toldAsGone(containerId))
  const file = files.find(({ path }) => containerFileId(containerId, path) === fileId)
  if (file === undefined) throw noSuchFile()
  return file
}

/** One that ended a moment ago has no files any more. */
function noneOfLost(error: unknown): ListedFile[] {
  if (error instanceof ContainerLost) return []
  throw error
}

interface Received {
  readonly sha256: string
  readonly file: ListedFile
}

export const createContainerFileRoute = (use: ReachUses) => {
  const write = async (
    projectId: string,
    id: string,
    asked: Omit<WriteInput, 'order'>,
    body?: AsyncIterable<Buffer>,
  ) => {
    await getActive(use, projectId, id)
    await touchContainer(use.db, id)
    const write = (owner: MeshOwner, order: BoxOrder) =>
      use.mesh.ask(owner, hostCommands.writeFile, {
        input: { ...asked, order } satisfies WriteInput,
        ...(body === undefined ? {} : { body }),
      })
    // Bytes that were taken from the client cannot be sent a second time.
    const { value } = await reachHost(use, id, write, body === undefined ? {} : { patienceMs: 0 }).catch(toldAsGone(id))
    return value as HostFile
  }
  const receiver = {
    async receive(
      { filename, stream }: IncomingFile,
      { scope, params }: { scope: { projectId: string }; params: { container_id: string } },
    ): Promise<Received> {
      const hash = createHash('sha256')
      const body = async function* () {
        for await (const chunk of stream as AsyncIterable<Buffer>) {
          hash.update(chunk)
          yield chunk
        }
      }
      const file = await write(scope.projectId, params.container_id, { filename, fileId: null }, body())
      return { sha256: hash.digest('hex'), file }
    },
    // It replaced what was there; taking it away again would bring nothing back.
    discard: async () => undefined,
  }
  return uploadRoute(createContainerFile, receiver, async ({ scope, params, body, file }) => {
    const id = params.container_id
    if (file !== null) return containerFileView(id, file.file)
    if (!('file_id' in body)) throw new Fault('invalid_multipart', 'There is no file in the body.', { param: 'file' })
    return containerFileView(id, await write(scope.projectId, id, { filename: '', fileId: body.file_id }))
  })
}

export const listContainerFilesRoute = (use: ReachUses) =>
  route(listContainerFiles, async ({ scope, params, query }) => {
    const id = params.container_id
    const row = await getContainer(use, scope.projectId, id)
    const files = row.status === 'active' ? await listFilesOf(use, id).catch(noneOfLost) : []
    const views = files
      .toSorted((a, b) => a.modifiedMs - b.modifiedMs || (a.path < b.path ? -1 : 1))
      .map((file) => containerFileView(id, file))
    if (query.order === 'desc') views.reverse()
    const at = query.after === undefined ? -1 : views.findIndex((view) => view.id === query.after)
    if (query.after !== undefined && at < 0) {
      throw new Fault('invalid_value', 'No file with the id given in after.', { param: 'after' })
    }
    return pageView(views.slice(at + 1, at + 2 + query.limit), query.limit, (view) => view)
  })

export const retrieveContainerFileRoute = (use: ReachUses) =>
  route(retrieveContainerFile, async ({ scope, params }) => {
    const { id } = await getActive(use, scope.projectId, params.container_id)
    return containerFileView(id, await getFile(use, id, params.file_id))
  })

export const retrieveContainerFileContentRoute = (use: ReachUses) =>
  route(retrieveContainerFileContent, async ({ scope, params }) => {
    const { id } = await getActive(use, scope.projectId, params.container_id)
    const { path } = await getFile(use, id, params.file_id)
    await touchContainer(use.db, id)
    const answer = await reachHost(use, id, (owner, order) =>
      use.mesh.ask(owner, hostCommands.readFile, { input: { order, path } satisfies FileInput }),
    ).catch(toldAsGone(id))
    const found = answer.value as { bytes: number } | null
    if (found === null) throw noSuchFile()
    return new BinaryReply({
      headers: attachmentHeaders(posix.basename(path), found.bytes),
      stream: Readable.from(answer.bytes, { objectMode: false }),
    })
  })

export const deleteContainerFileRoute = (use: ReachUses) =>
  route(deleteContainerFile, async ({ scope, params }) => {
    const { id } = await getActive(use, scope.projectId, params.container_id)
    const { path } = await getFile(use, id, params.file_id)
    await touchContainer(use.db, id)
    const { value } = await reachHost(use, id, (owner, order) =>
      use.mesh.ask(owner, hostCommands.deleteFile, { input: { order, path } satisfies FileInput }),
    ).catch(toldAsGone(id))
    if (value !== true) throw noSuchFile()
    return { id: params.file_id, object: 'container.file.deleted' as const, deleted: true as const }
  })
