import type { ContainerNetworkPolicy } from '@switchyard/contracts/organization/container-network-policy.ts'
import type { NetworkPolicy } from './network-policy.ts'
import { seconds } from './seconds.ts'

export function networkPolicyView(policy: NetworkPolicy): ContainerNetworkPolicy {
  return {
    object: 'organization.container_network_policy',
    type: policy.type,
    allowed_domains: [...policy.allowed_domains],
    updated_at: seconds(policy.updated_at),
  }
}
