import { retrieveContainerNetworkPolicy } from '@switchyard/contracts/organization/container-network-policy.ts'
import { route } from '#platform/http/route.ts'
import { networkPolicyView } from '../../domain/network-policy-view.ts'
import { getNetworkPolicy } from '../../store/network-policies.ts'
import type { OrgsUse } from '../../use.ts'

export const retrieveContainerNetworkPolicyRoute = (use: Pick<OrgsUse, 'db'>) =>
  route(retrieveContainerNetworkPolicy, async ({ scope }) =>
    networkPolicyView(await getNetworkPolicy(use.db.kysely, scope.orgId)),
  )
