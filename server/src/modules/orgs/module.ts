import type { KeyId, OrgId, ProjectId, UserId } from '@switchyard/contracts/ids.ts'
import { operations } from '@switchyard/contracts/operations.ts'
import type { Database } from '#platform/db/db.ts'
import { own, type Tx } from '#platform/db/tx.ts'
import type { Authenticate, Principal } from '#platform/http/principal.ts'
import type { Route } from '#platform/http/route.ts'
import type { Part } from '#platform/lifecycle/module.ts'
import { assert } from '#platform/std/assert.ts'
import type { Log } from '#platform/telemetry/log.ts'
import type { Actor } from './domain/actor.ts'
import type { AuditEvent } from './domain/audit-event.ts'
import { cellTagPattern } from './domain/key-text.ts'
import { knownScopes } from './domain/scopes.ts'
import { orgsRoutes } from './routes/routes.ts'
import { acceptInvite, type Acceptance } from './steps/accept-invite.ts'
import { createAuthenticate, createPrincipalOf } from './steps/authenticate.ts'
import { createLastUsed } from './steps/last-used.ts'
import { createOperatorActions, type OperatorActions } from './steps/operator-actions.ts'
import { recordAudit } from './store/audit-log.ts'
import { findKeyUsers, listKeysOfUsers } from './store/key-owners.ts'
import { findNetworkPolicy } from './store/network-policies.ts'
import { findOrganization } from './store/organizations.ts'
import { findProjectAnywhere, listArchivedOf, listProjects } from './store/projects.ts'
import type { OrgsTables } from './store/tables.ts'

export interface OrgsUses {
  readonly db: Database
  readonly log: Log
  /** Stands in every key and project id, so that an edge can route without a lookup. */
  readonly cellTag: string
}

export interface Project {
  readonly id: ProjectId
  readonly orgId: OrgId
  readonly name: string
  readonly archived: boolean
}

export interface Organization {
  readonly id: OrgId
  readonly name: string
  readonly region: string | null
}

export interface ContainerNetwork {
  readonly type: 'allowlist' | 'disabled'
  readonly allowedDomains: readonly string[]
}

export interface Orgs extends OperatorActions {
  readonly routes: Route[]
  /** Run wherever requests are authenticated. */
  readonly parts: Part[]
  readonly authenticate: Authenticate
  /** Who holds a key, for someone who has proven before that they do; null once it is not in force any more. */
  principalOf(keyId: KeyId): Promise<Principal | null>
  /** As it is at this moment: a domain taken off the list counts from the next question on. */
  networkPolicy(orgId: OrgId): Promise<ContainerNetwork>
  /** Whichever organisation it belongs to; null when there is none. */
  findProject(id: ProjectId): Promise<Project | null>
  /** Which of these projects are archived: what was going on in them has to end. */
  archivedOf(ids: readonly ProjectId[]): Promise<ProjectId[]>
  /** In the caller's transaction where there is one; null when there is no such organisation. */
  findOrganization(id: OrgId, tx?: Tx): Promise<Organization | null>
  /** Projects that are not archived, newest first; at most `limit` of those before `after`. */
  listOpenProjects(tx: Tx, orgId: OrgId, page: { after?: ProjectId | undefined; limit: number }): Promise<ProjectId[]>
  /** The people behind keys of an organisation; a key that is nobody's is left out. */
  keyUsers(orgId: OrgId, keyIds: readonly KeyId[]): Promise<ReadonlyMap<KeyId, UserId>>
  keysOfUsers(orgId: OrgId, userIds: readonly UserId[]): Promise<KeyId[]>
  /** For administrative changes that other modules make, in the transaction of the change. */
  recordAudit(tx: Tx, orgId: OrgId, actor: Actor, event: AuditEvent): Promise<void>
  /** Called when a person has signed in and proven their address. */
  acceptInvite(acceptance: Acceptance): Promise<{ orgId: OrgId; userId: UserId }>
}

export function createOrgs({ db: database, log, cellTag }: OrgsUses): Orgs {
  assert(cellTagPattern.test(cellTag), 'a cell tag is one to eight lower-case letters and digits')
  const use = { db: database.as<OrgsTables>(), log, cellTag, scopes: knownScopes(operations) }
  const lastUsed = createLastUsed(use)
  return {
    ...createOperatorActions(use),
    routes: orgsRoutes(use),
    parts: [lastUsed.part],
    authenticate: createAuthenticate({ ...use, noteUse: lastUsed.note }),
    principalOf: createPrincipalOf({ ...use, noteUse: lastUsed.note }),
    async networkPolicy(orgId) {
      const policy = await findNetworkPolicy(use.db, orgId)
      // An organisation that is not there may reach nothing.
      if (policy === null) return { type: 'disabled', allowedDomains: [] }
      return { type: policy.type, allowedDomains: policy.allowed_domains }
    },
    async findProject(id) {
      const row = await findProjectAnywhere(use.db, id)
      return row && { id: row.id, orgId: row.org_id, name: row.name, archived: row.archived_at !== null }
    },
    archivedOf: (ids) => listArchivedOf(use.db, ids),
    findOrganization: (id, tx) => findOrganization(tx === undefined ? use.db.kysely : own<OrgsTables>(tx), id),
    async listOpenProjects(tx, orgId, { after, limit }) {
      const rows = await listProjects(own<OrgsTables>(tx), orgId, { after, limit, includeArchived: false })
      return rows.slice(0, limit).map(({ id }) => id)
    },
    keyUsers: (orgId, keyIds) => findKeyUsers(use.db.kysely, orgId, keyIds),
    keysOfUsers: (orgId, userIds) => listKeysOfUsers(use.db.kysely, orgId, userIds),
    recordAudit,
    acceptInvite: (acceptance) => acceptInvite(use, acceptance),
  }
}
