import { updateContainerNetworkPolicy } from '@switchyard/contracts/organization/container-network-policy.ts'
import { own } from '#platform/db/tx.ts'
import { Fault } from '#platform/errors/fault.ts'
import { route } from '#platform/http/route.ts'
import { actorOf } from '../../domain/actor.ts'
import { networkPolicyUpdated } from '../../domain/audit-event.ts'
import { networkPolicyView } from '../../domain/network-policy-view.ts'
import { findTwice, policyChange } from '../../domain/network-policy.ts'
import { recordAudit } from '../../store/audit-log.ts'
import { getNetworkPolicy, saveNetworkPolicy } from '../../store/network-policies.ts'
import { lockOrganization } from '../../store/organizations.ts'
import type { OrgsTables } from '../../store/tables.ts'
import type { OrgsUse } from '../../use.ts'

export const updateContainerNetworkPolicyRoute = (use: Pick<OrgsUse, 'db'>) =>
  route(updateContainerNetworkPolicy, async (context) => {
    const { orgId } = context.scope
    const { type, allowed_domains: domains } = context.body
    const twice = findTwice(domains ?? [])
    if (twice !== null) {
      throw new Fault('invalid_value', 'The domain is named twice.', { param: `allowed_domains[${twice}]` })
    }
    return await use.db.tx(async (tx) => {
      await lockOrganization(tx, orgId)
      const before = await getNetworkPolicy(own<OrgsTables>(tx), orgId)
      const after = { type: type ?? before.type, allowed_domains: domains ?? before.allowed_domains }
      const change = policyChange(before, after)
      if (change === null) return networkPolicyView(before)
      await recordAudit(tx, orgId, actorOf(context), networkPolicyUpdated(orgId, change))
      return networkPolicyView(await saveNetworkPolicy(tx, orgId, after))
    })
  })
