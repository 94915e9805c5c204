import { z } from 'zod'
import { operation } from '../operation.ts'
import { timestamp } from './shared.ts'

export const allowedDomainsMax = 1_000
/** A host name has at most 253 characters, and a wildcard two more. */
const domainTextMax = 255

/**
 * A lower-case host name (international ones as punycode), or `*.` before one. The last label starts with a letter, so
 * an IPv4 address does not fit; a wildcard stands before at least two labels, so `*.com` does not fit.
 */
const hostPattern =
  /^(?=(?:\*\.)?.{1,253}$)(\*\.)?([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/

export const AllowedDomain = z
  .string()
  .max(domainTextMax)
  .regex(hostPattern, 'expected a lower-case host name or *.host, without scheme, port, path or address')

export const ContainerNetworkPolicy = z.strictObject({
  object: z.literal('organization.container_network_policy'),
  type: z.enum(['allowlist', 'disabled']),
  allowed_domains: z.array(z.string()),
  updated_at: timestamp,
})
export type ContainerNetworkPolicy = z.infer<typeof ContainerNetworkPolicy>

export const retrieveContainerNetworkPolicy = operation({
  id: 'admin.organization.container_network_policy.retrieve',
  method: 'GET',
  path: '/v1/organization/container_network_policy',
  summary: 'Read which domains the containers of the organisation may ever reach.',
  auth: 'admin_key',
  scope: 'organization.container_network_policy.read',
  reply: ContainerNetworkPolicy,
})

export const updateContainerNetworkPolicy = operation({
  id: 'admin.organization.container_network_policy.update',
  method: 'POST',
  path: '/v1/organization/container_network_policy',
  summary: 'Change which domains the containers of the organisation may ever reach; what is left out stays.',
  auth: 'admin_key',
  scope: 'organization.container_network_policy.write',
  body: z.strictObject({
    type: ContainerNetworkPolicy.shape.type.optional(),
    allowed_domains: z.array(AllowedDomain).max(allowedDomainsMax).optional(),
  }),
  reply: ContainerNetworkPolicy,
  faults: ['invalid_value'],
})

export const containerNetworkPolicyOperations = [retrieveContainerNetworkPolicy, updateContainerNetworkPolicy] as const
