import { deleteContainer, listContainers, type containerOperations } from '@switchyard/contracts/containers.ts'
import { sql } from 'kysely'
import { formOf } from '#modules/containers/testing/containers-kit.ts'
import { newContainer } from '../examples/containers.ts'
import { make, type Place } from '../place.ts'
import type { FaultCase, FaultCases } from './fault-case.ts'

const none = { container_id: 'cntr_none', file_id: 'cfile_none' }
const huge = {
  headers: { 'content-type': 'multipart/form-data; boundary=b', 'content-length': String(10 * 1024 ** 3) },
  chunks: [],
}
function twoFiles(): FormData {
  const form = formOf('a.txt', 'a')
  form.append('file', new Blob(['b']), 'b.txt')
  return form
}
/** More than a project may have. */
const manyContainers = 100

const noContainer: FaultCase = async () => ({ params: none, param: null })
const noFile: FaultCase = async (at) => ({
  params: { ...none, container_id: (await newContainer(at)).id },
  param: 'file_id',
})

const gone: FaultCase = async (at) => {
  const { id } = await newContainer(at)
  await sql`update containers.container set status = 'expired', cleared_at = clock_timestamp()
    where id = ${id}`.execute(at.app.db.kysely)
  return { params: { ...none, container_id: id }, param: null }
}

/** Its host is one that nobody has heard of. */
const away: FaultCase = async (at) => {
  const { id } = await newContainer(at)
  await sql`insert into containers.host (id, url, memory_bytes, seen_at)
    values ('host_away', 'http://127.0.0.1:9', 0, clock_timestamp() - interval '20 seconds')
    on conflict do nothing`.execute(at.app.db.kysely)
  await sql`update containers.container set host_id = 'host_away' where id = ${id}`.execute(at.app.db.kysely)
  return { params: { ...none, container_id: id }, param: null }
}

/** Its host is asked again for as long as a request may wait. */
const awayForLong: FaultCase = Object.assign((at: Place) => away(at), { waits: true } as const)

const withForm =
  (faultCase: FaultCase): FaultCase =>
  async (at) => ({ ...(await faultCase(at)), body: formOf('a.txt', 'a') })

/** No host accepts, until it next says that it does. */
const noHost: FaultCase = async ({ app }) => {
  const accepting = (value: boolean) => sql`update containers.host set accepting = ${value}`.execute(app.db.kysely)
  await accepting(false)
  return { body: { name: 'x' }, param: null, leaves: true, undo: () => accepting(true) }
}

async function fill(at: Place): Promise<string[]> {
  const ids: string[] = []
  const { data } = await make(at, listContainers, { query: { limit: 100 } })
  const active = data.filter(({ status }) => status === 'active').length
  for (let count = active; count < manyContainers; count += 1) ids.push((await newContainer(at)).id)
  return ids
}

export const containerFaults: FaultCases<typeof containerOperations> = {
  'containers.create': {
    async container_limit_exceeded(at) {
      const ids = await fill(at)
      const undo = async () => {
        for (const id of ids) await make(at, deleteContainer, { params: { container_id: id } })
      }
      return { body: { name: 'x' }, param: null, undo }
    },
    domain_not_allowed: async () => ({
      body: { name: 'x', network_policy: { type: 'allowlist', allowed_domains: ['nowhere.test'] } },
      param: 'network_policy.allowed_domains[0]',
    }),
    async invalid_skill() {
      const source = { type: 'base64', media_type: 'application/zip', data: Buffer.from('no zip').toString('base64') }
      const skills = [{ type: 'inline', name: 'x', description: '', source }]
      return { body: { name: 'x', skills }, param: 'skills[0].source.data' }
    },
    not_found: async () => ({ body: { name: 'x', file_ids: ['file-none'] }, param: 'file_ids[0]' }),
    server_overloaded: noHost,
  },
  'containers.retrieve': { container_not_found: noContainer },
  'containers.delete': { container_not_found: noContainer },
  'containers.files.create': {
    container_not_found: withForm(noContainer),
    container_gone: withForm(gone),
    // What is begun counts as activity.
    server_overloaded: async (at) => ({ ...(await withForm(away)(at)), leaves: true }),
    file_too_large: async (at) => ({ params: { container_id: (await newContainer(at)).id }, raw: huge, param: null }),
    invalid_multipart: async (at) => ({
      params: { container_id: (await newContainer(at)).id },
      body: twoFiles(),
      param: 'file',
      leaves: true,
    }),
    not_found: async (at) => ({
      params: { container_id: (await newContainer(at)).id },
      body: { file_id: 'file-none' },
      param: 'file_id',
      leaves: true,
    }),
  },
  'containers.files.list': { container_not_found: noContainer, server_overloaded: awayForLong },
  'containers.files.retrieve': {
    container_not_found: noContainer,
    container_gone: gone,
    server_overloaded: awayForLong,
    not_found: noFile,
  },
  'containers.files.content.retrieve': {
    container_not_found: noContainer,
    container_gone: gone,
    server_overloaded: awayForLong,
    not_found: noFile,
  },
  'containers.files.delete': {
    container_not_found: noContainer,
    container_gone: gone,
    server_overloaded: awayForLong,
    not_found: noFile,
  },
  'containers.egress_receipts.list': { container_not_found: noContainer },
}
