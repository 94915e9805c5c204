import {
  createContainer,
  createContainerFile,
  type Container,
  type ContainerFile,
  type containerOperations,
} from '@switchyard/contracts/containers.ts'
import { sql } from 'kysely'
import { formOf } from '#modules/containers/testing/containers-kit.ts'
import { newId } from '#platform/std/ids.ts'
import type { MakeExample } from '../example.ts'
import { make, type Place } from '../place.ts'

export const newContainer = (at: Place) => make(at, createContainer, { body: { name: 'swept' } })

const shared = new WeakMap<object, Promise<Container>>()

/** One for the files of a place: each costs a machine. */
function fileContainer(at: Place): Promise<Container> {
  const made = shared.get(at.project) ?? newContainer(at)
  shared.set(at.project, made)
  return made
}

export async function newContainerFile(at: Place): Promise<ContainerFile> {
  const { id } = await fileContainer(at)
  return await make(at, createContainerFile, { params: { container_id: id }, body: formOf(newId('f'), 'swept') })
}

const containerParams: MakeExample = async (at) => ({ params: { container_id: (await newContainer(at)).id } })

const fileParams: MakeExample = async (at) => {
  const { id, container_id } = await newContainerFile(at)
  return { params: { container_id, file_id: id } }
}

/** As the host writes them; making one takes a machine, a name server and a receiver. */
async function newReceipt(at: Place): Promise<{ container_id: string; id: string }> {
  const { id: container_id } = await newContainer(at)
  const id = newId('er_')
  await sql`insert into containers.egress_receipt (container_id, id, at, host, port, verdict, reason, bytes_in, bytes_out)
    values (${container_id}, ${id}, clock_timestamp(), 'example.com', 443, 'allowed', null, 1, 2)`.execute(
    at.app.db.kysely,
  )
  return { container_id, id }
}

export const containerExamples: Record<(typeof containerOperations)[number]['id'], MakeExample> = {
  'containers.create': async () => ({ body: { name: 'swept' } }),
  'containers.list': async (at) => ({ query: { after: (await newContainer(at)).id }, references: ['query.after'] }),
  'containers.retrieve': containerParams,
  'containers.delete': containerParams,
  'containers.files.create': async (at) => ({
    params: { container_id: (await fileContainer(at)).id },
    body: formOf('swept.txt', 'swept'),
  }),
  'containers.files.list': async (at) => {
    const { id, container_id } = await newContainerFile(at)
    return { params: { container_id }, query: { after: id }, references: ['query.after'] }
  },
  'containers.files.retrieve': fileParams,
  'containers.files.content.retrieve': fileParams,
  'containers.files.delete': fileParams,
  'containers.egress_receipts.list': async (at) => {
    const { id, container_id } = await newReceipt(at)
    return { params: { container_id }, query: { after: id }, references: ['query.after'] }
  },
}
