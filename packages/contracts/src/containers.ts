import { z } from 'zod'
import { fileBytesMax } from './files.ts'
import { ContainerFileId, ContainerId } from './ids.ts'
import { operation } from './operation.ts'
import { Order, pageOf, pageQuery } from './page.ts'

export const containerNameMax = 256
export const containerSkillsMax = 20
export const containerFilesMax = 20
export const expiryMinutesDefault = 20
export const expiryMinutesMax = 1_440
export const activeContainersMax = 100
const domainsMax = 100
const domainMax = 255
const secretNameMax = 128
const secretsMax = 64
/** It has to fit into a header. */
const secretValueMax = 16_384
const skillDescriptionMax = 65_536
const idTextMax = 96

export const MemoryLimit = z.enum(['1g', '4g', '16g', '64g'])
export type MemoryLimit = z.infer<typeof MemoryLimit>

const DomainSecret = z.strictObject({
  domain: z.string().min(1).max(domainMax),
  name: z.string().min(1).max(secretNameMax),
  /** Written once and never shown. */
  value: z.string().min(1).max(secretValueMax).optional(),
})

/** What a request may reach of what its organisation allows. */
export const RequestNetworkPolicy = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('allowlist'),
    allowed_domains: z.array(z.string().min(1).max(domainMax)).max(domainsMax),
    domain_secrets: z.array(DomainSecret).max(secretsMax).optional(),
  }),
  z.strictObject({ type: z.literal('disabled') }),
])
export type RequestNetworkPolicy = z.infer<typeof RequestNetworkPolicy>

export const SkillEntry = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('skill_reference'),
    skill_id: z.string().min(1).max(idTextMax),
    version: z.string().min(1).max(32).optional(),
  }),
  z.strictObject({
    type: z.literal('inline'),
    name: z.string().min(1).max(containerNameMax),
    description: z.string().max(skillDescriptionMax),
    source: z.strictObject({ type: z.literal('base64'), media_type: z.string().min(1).max(255), data: z.string() }),
  }),
])
export type SkillEntry = z.infer<typeof SkillEntry>

const timestamp = z.int().nonnegative()

export const Container = z
  .strictObject({
    id: ContainerId,
    object: z.literal('container'),
    created_at: timestamp,
    name: z.string(),
    status: z.enum(['active', 'expired']),
    expires_after: z.strictObject({ anchor: z.literal('last_active_at'), minutes: z.int() }),
    last_active_at: timestamp,
    expires_at: timestamp,
    memory_limit: MemoryLimit,
    network_policy: z.union([
      z.strictObject({ type: z.literal('disabled') }),
      z.strictObject({ type: z.literal('allowlist'), allowed_domains: z.array(z.string()) }),
    ]),
    skills: z.array(
      z.strictObject({
        type: z.enum(['skill_reference', 'inline']),
        skill_id: z.string().optional(),
        version: z.string().optional(),
        name: z.string(),
      }),
    ),
    /** Why it expired before its time; absent otherwise. */
    status_reason: z.string().optional(),
  })
  .meta({ id: 'Container' })
export type Container = z.infer<typeof Container>

export const ContainerFile = z
  .strictObject({
    id: ContainerFileId,
    object: z.literal('container.file'),
    container_id: ContainerId,
    created_at: timestamp,
    bytes: z.int().nonnegative(),
    path: z.string(),
    source: z.enum(['user', 'assistant']),
  })
  .meta({ id: 'ContainerFile' })
export type ContainerFile = z.infer<typeof ContainerFile>

export const EgressReceipt = z
  .strictObject({
    id: z.string(),
    object: z.literal('container.egress_receipt'),
    container_id: ContainerId,
    created_at: timestamp,
    host: z.string(),
    port: z.int(),
    verdict: z.enum(['allowed', 'injected', 'refused', 'failed']),
    reason: z.string().nullable(),
    bytes_in: z.int().nonnegative(),
    bytes_out: z.int().nonnegative(),
  })
  .meta({ id: 'EgressReceipt' })
export type EgressReceipt = z.infer<typeof EgressReceipt>

const containerParams = z.strictObject({ container_id: ContainerId })
const fileParams = z.strictObject({ container_id: ContainerId, file_id: ContainerFileId })

export const createContainer = operation({
  id: 'containers.create',
  method: 'POST',
  path: '/v1/containers',
  summary: 'Make a container that shell calls of several responses can share.',
  auth: 'project_key',
  scope: 'containers.write',
  body: z.strictObject({
    name: z.string().min(1).max(containerNameMax),
    memory_limit: MemoryLimit.optional(),
    expires_after: z
      .strictObject({ anchor: z.literal('last_active_at'), minutes: z.int().min(1).max(expiryMinutesMax) })
      .optional(),
    file_ids: z.array(z.string().min(1).max(idTextMax)).max(containerFilesMax).optional(),
    network_policy: RequestNetworkPolicy.optional(),
    skills: z.array(SkillEntry).max(containerSkillsMax).optional(),
  }),
  reply: Container,
  faults: ['container_limit_exceeded', 'domain_not_allowed', 'invalid_skill', 'not_found', 'server_overloaded'],
  creates: true,
})

export const listContainers = operation({
  id: 'containers.list',
  method: 'GET',
  path: '/v1/containers',
  summary: 'List the containers of the project, newest first.',
  auth: 'project_key',
  scope: 'containers.read',
  query: pageQuery().extend({ order: Order, name: z.string().min(1).max(containerNameMax).optional() }),
  reply: pageOf(Container),
})

export const retrieveContainer = operation({
  id: 'containers.retrieve',
  method: 'GET',
  path: '/v1/containers/{container_id}',
  summary: 'Read a container. This does not count as activity.',
  auth: 'project_key',
  scope: 'containers.read',
  params: containerParams,
  reply: Container,
  faults: ['container_not_found'],
})

export const deleteContainer = operation({
  id: 'containers.delete',
  method: 'DELETE',
  path: '/v1/containers/{container_id}',
  summary: 'Delete a container and its data.',
  auth: 'project_key',
  scope: 'containers.write',
  params: containerParams,
  reply: z.strictObject({
    id: ContainerId,
    object: z.literal('container.deleted'),
    deleted: z.literal(true),
    status: z.literal('deleted'),
  }),
  faults: ['container_not_found'],
})

const fileFaults = ['container_not_found', 'container_gone', 'server_overloaded'] as const

export const createContainerFile = operation({
  id: 'containers.files.create',
  method: 'POST',
  path: '/v1/containers/{container_id}/files',
  summary: 'Put a file under /mnt/data: uploaded here, or copied from the files of the project.',
  auth: 'project_key',
  scope: 'containers.write',
  params: containerParams,
  body: {
    kind: 'multipart',
    fields: z.strictObject({}),
    file: { name: 'file', bytesMax: fileBytesMax },
    json: z.strictObject({ file_id: z.string().min(1).max(idTextMax) }),
  },
  reply: ContainerFile,
  faults: [...fileFaults, 'file_too_large', 'invalid_multipart', 'not_found'],
})

export const listContainerFiles = operation({
  id: 'containers.files.list',
  method: 'GET',
  path: '/v1/containers/{container_id}/files',
  summary: 'List the regular files under /mnt/data, newest first.',
  auth: 'project_key',
  scope: 'containers.read',
  params: containerParams,
  query: pageQuery().extend({ order: Order }),
  reply: pageOf(ContainerFile),
  faults: ['container_not_found', 'server_overloaded'],
})

export const retrieveContainerFile = operation({
  id: 'containers.files.retrieve',
  method: 'GET',
  path: '/v1/containers/{container_id}/files/{file_id}',
  summary: 'Read what is known about a file of a container.',
  auth: 'project_key',
  scope: 'containers.read',
  params: fileParams,
  reply: ContainerFile,
  faults: [...fileFaults, 'not_found'],
})

export const retrieveContainerFileContent = operation({
  id: 'containers.files.content.retrieve',
  method: 'GET',
  path: '/v1/containers/{container_id}/files/{file_id}/content',
  summary: 'Download a file of a container.',
  auth: 'project_key',
  scope: 'containers.read',
  params: fileParams,
  reply: 'binary',
  faults: [...fileFaults, 'not_found'],
})

export const deleteContainerFile = operation({
  id: 'containers.files.delete',
  method: 'DELETE',
  path: '/v1/containers/{container_id}/files/{file_id}',
  summary: 'Delete a file of a container.',
  auth: 'project_key',
  scope: 'containers.write',
  params: fileParams,
  reply: z.strictObject({ id: ContainerFileId, object: z.literal('container.file.deleted'), deleted: z.literal(true) }),
  faults: [...fileFaults, 'not_found'],
})

export const listEgressReceipts = operation({
  id: 'containers.egress_receipts.list',
  method: 'GET',
  path: '/v1/containers/{container_id}/egress_receipts',
  summary: 'List what a container reached, or tried to reach, over the network. Ours.',
  auth: 'project_key',
  scope: 'containers.read',
  params: containerParams,
  query: pageQuery().extend({ order: Order }),
  reply: pageOf(EgressReceipt),
  faults: ['container_not_found'],
})

export const containerOperations = [
  createContainer,
  listContainers,
  retrieveContainer,
  deleteContainer,
  createContainerFile,
  listContainerFiles,
  retrieveContainerFile,
  retrieveContainerFileContent,
  deleteContainerFile,
  listEgressReceipts,
] as const
