import type { AdAccountId, KeyId, OrgId, ProjectId, UserId } from '@switchyard/contracts/ids.ts'
import { newId } from '#platform/std/ids.ts'
import { operator } from '../domain/actor.ts'
import { organizationCreated } from '../domain/audit-event.ts'
import { storedScopes } from '../domain/scopes.ts'
import { recordAudit } from '../store/audit-log.ts'
import { insertOrganization } from '../store/organizations.ts'
import type { OrgsUse } from '../use.ts'
import { holdOpenProject } from './in-project.ts'
import { makeAdsKey, type WantedAdsKey } from './make-ads-key.ts'
import { makeProject } from './make-project.ts'
import { mintKey } from './mint-key.ts'

export interface WantedProjectKey {
  readonly orgId: OrgId
  readonly projectId: ProjectId
  readonly name: string
  readonly scopes?: readonly string[]
  readonly expiresInSeconds?: number
  /** The person the key belongs to; without one it belongs to nobody in particular. */
  readonly userId?: UserId
}

/** What the deployment's own operator may do without a key: the first of everything has to come from somewhere. */
export interface OperatorActions {
  createOrganization(wanted: { name: string; region?: string }): Promise<{ orgId: OrgId; adminKey: string }>
  createProject(wanted: { orgId: OrgId; name: string }): Promise<{ projectId: ProjectId }>
  mintProjectKey(wanted: WantedProjectKey): Promise<{ keyId: KeyId; key: string }>
  mintAdminKey(wanted: { orgId: OrgId; name: string; userId?: UserId }): Promise<{ keyId: KeyId; key: string }>
  mintAdsKey(wanted: WantedAdsKey): Promise<{ keyId: KeyId; key: string; adAccountId: AdAccountId }>
}

export function createOperatorActions(use: Pick<OrgsUse, 'db' | 'cellTag' | 'scopes'>): OperatorActions {
  const { db, cellTag } = use
  return {
    createOrganization: ({ name, region }) =>
      db.tx(async (tx) => {
        const orgId = newId<OrgId>('org-')
        await insertOrganization(tx, { id: orgId, name, region: region ?? null })
        await recordAudit(tx, orgId, operator, organizationCreated(orgId, name))
        const wanted = { kind: 'admin', orgId, name: 'First admin key', scopes: null, lifetimeSeconds: null } as const
        const { value } = await mintKey(tx, cellTag, operator, wanted)
        return { orgId, adminKey: value }
      }),
    createProject: (wanted) =>
      db.tx(async (tx) => ({ projectId: (await makeProject(tx, cellTag, operator, wanted)).id })),
    async mintProjectKey({ orgId, projectId, name, scopes, expiresInSeconds, userId }) {
      use.scopes.check('project_key', scopes ?? [])
      return await db.tx(async (tx) => {
        await holdOpenProject(tx, orgId, projectId)
        const { row, value } = await mintKey(tx, cellTag, operator, {
          kind: 'project',
          orgId,
          projectId,
          userId: userId ?? null,
          name,
          scopes: storedScopes(scopes),
          lifetimeSeconds: expiresInSeconds ?? null,
        })
        return { keyId: row.id, key: value }
      })
    },
    mintAdminKey: ({ orgId, name, userId }) =>
      db.tx(async (tx) => {
        const wanted = {
          kind: 'admin',
          orgId,
          userId: userId ?? null,
          name,
          scopes: null,
          lifetimeSeconds: null,
        } as const
        const { row, value } = await mintKey(tx, cellTag, operator, wanted)
        return { keyId: row.id, key: value }
      }),
    mintAdsKey: (wanted) =>
      db.tx(async (tx) => {
        const { row, value } = await makeAdsKey(tx, cellTag, operator, wanted)
        return { keyId: row.id, key: value, adAccountId: row.ad_account_id as AdAccountId }
      }),
  }
}
