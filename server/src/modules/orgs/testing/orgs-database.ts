import type { OrgId, ProjectId } from '@switchyard/contracts/ids.ts'
import type { TestContext } from 'node:test'
import { openDatabase, type Database, type Db } from '#platform/db/db.ts'
import { createLog } from '#platform/telemetry/log.ts'
import { testDatabase } from '../../../../test/test-database.ts'
import { createOrgs, type Orgs } from '../index.ts'
import type { OrgsTables } from '../store/tables.ts'

export interface OrgsOnly {
  readonly database: Database
  readonly db: Db<OrgsTables>
  readonly orgs: Orgs
  readonly orgId: OrgId
  readonly adminKey: string
  readonly projectId: ProjectId
}

/** The module without anything around it, on a database of its own with one organisation and one project. */
export async function orgsOnly(t: TestContext): Promise<OrgsOnly> {
  const { url, drop } = await testDatabase()
  const database = openDatabase({
    url,
    connectionsMax: 6,
    statementTimeoutMs: 10_000,
    applicationName: 'orgs test',
    onIdleError: () => undefined,
  })
  t.after(async () => {
    await database.close()
    await drop()
  })
  const log = createLog({ level: 'silent', pretty: false, name: 'test' })
  const orgs = createOrgs({ db: database, log, cellTag: 't1' })
  const { orgId, adminKey } = await orgs.createOrganization({ name: 'Only' })
  const { projectId } = await orgs.createProject({ orgId, name: 'Project' })
  return { database, db: database.as<OrgsTables>(), orgs, orgId, adminKey, projectId }
}
