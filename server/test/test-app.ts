import type { OrgId, ProjectId } from '@switchyard/contracts/ids.ts'
import type { ErrorBody } from '@switchyard/contracts/errors.ts'
import type { Operation, RepliedBy } from '@switchyard/contracts/operation.ts'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import type { TestContext } from 'node:test'
import type { Orgs } from '#modules/orgs/index.ts'
import { loadSettings } from '#platform/config/load.ts'
import type { Settings } from '#platform/config/settings.ts'
import type { Database } from '#platform/db/db.ts'
import { run } from '#platform/lifecycle/run.ts'
import { createLog, flushLog } from '#platform/telemetry/log.ts'
import { partsOf, type Role } from '../src/roles/roles.ts'
import { wire, type Wired } from '../src/wiring.ts'
import { writeDoubleModels } from './double-models.ts'
import { callOperation, type CallInput, type CallReply } from './call-operation.ts'
import { countApp } from './close-connections.ts'
import { startProviderDouble, type ProviderDouble } from './provider-double.ts'
import { testDatabase } from './test-database.ts'

export interface TestProject {
  readonly id: ProjectId
  readonly key: string
}

export interface TestOrganization {
  readonly id: OrgId
  readonly adminKey: string
  readonly adsKey: string
  readonly project: TestProject
}

/** The whole app in this process, on real services and a database of its own. */
export interface TestApp {
  readonly baseUrl: string
  readonly db: Database
  readonly wired: Wired
  readonly orgs: Orgs
  readonly org: TestOrganization
  /** Another organisation, which must never be seen from the first. */
  readonly otherOrg: TestOrganization
  readonly project: TestProject
  /** Another project of the same organisation. */
  readonly other: TestProject
  /** Answers for the models `double-chat`, `double-responses` and `double-anthropic`. */
  readonly double: ProviderDouble
  /** Everything logged so far. */
  log(): Promise<string>
  /** As at SIGTERM: finishes what is in hand. True when all of it was finished in time. */
  drain(): Promise<boolean>
  call<O extends Operation>(
    operation: O,
    input?: CallInput,
  ): Promise<CallReply<RepliedBy<O>> & { error: ErrorBody['error'] }>
}

export async function testApp(
  t: TestContext,
  overrides: Record<string, string> = {},
  roles: readonly Role[] = ['api'],
): Promise<TestApp> {
  const database = await testDatabase()
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-blobs-'))
  const double = await startProviderDouble()
  const models = { SWITCHYARD_MODELS: await writeDoubleModels(folder, double.url) }
  const { settings, port } = await testSettings(database.url, join(folder, 'blobs'), { ...models, ...overrides })
  const lines: string[] = []
  const destination = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk))
      done()
    },
  })
  const log = createLog({ level: 'info', pretty: false, name: 'test', destination })
  const wired = await wire(settings, log)
  const running = run(partsOf(roles, wired), { log, drainTimeoutMs: 5_000, stopTimeoutMs: 5_000 })
  const closeConnections = countApp()
  t.after(async () => {
    closeConnections()
    await running.stop()
    await double.close()
    await database.drop()
    await rm(folder, { recursive: true, force: true })
  })
  await running.started
  const baseUrl = `http://127.0.0.1:${port}`
  const org = await makeOrganization(wired, 'First')
  const otherOrg = await makeOrganization(wired, 'Second')
  const other = await makeProject(wired.orgs, org.id, 'Other')
  const app: TestApp = {
    baseUrl,
    db: wired.db,
    wired,
    orgs: wired.orgs,
    org,
    otherOrg,
    project: org.project,
    other,
    double,
    async log() {
      await flushLog(log)
      return lines.join('')
    },
    drain: () => running.drain(),
    async call(operation, input = {}) {
      const keys = { project_key: org.project.key, admin_key: org.adminKey, ads_key: org.adsKey }
      return (await callOperation(baseUrl, operation, { key: keys[operation.auth], ...input })) as never
    },
  }
  return app
}

async function testSettings(
  url: string,
  folder: string,
  overrides: Record<string, string>,
): Promise<{ settings: Settings; port: number }> {
  const { freePort } = await import('../../dev/engines/free-port.ts')
  const port = await freePort()
  const environment: Record<string, string> = {
    SWITCHYARD_POSTGRES_URL: url,
    SWITCHYARD_POSTGRES_CONNECTIONS_MAX: '8',
    SWITCHYARD_VALKEY_URL: process.env['SWITCHYARD_TEST_VALKEY_URL'] ?? '',
    SWITCHYARD_RESTATE_INGRESS_URL: process.env['SWITCHYARD_TEST_RESTATE_INGRESS_URL'] ?? '',
    SWITCHYARD_RESTATE_ADMIN_URL: process.env['SWITCHYARD_TEST_RESTATE_ADMIN_URL'] ?? '',
    SWITCHYARD_RESTATE_IDENTITY_KEY: process.env['SWITCHYARD_TEST_RESTATE_IDENTITY_KEY'] ?? '',
    SWITCHYARD_HTTP_PORT: String(port),
    SWITCHYARD_HTTP_CHECK_REPLIES: 'true',
    SWITCHYARD_OUTBOUND_LOOPBACK_ALLOWED: 'true',
    SWITCHYARD_OUTBOUND_HOSTS: '127.0.0.1,localhost',
    SWITCHYARD_SEAL_KEYS: `test:${randomBytes(32).toString('base64')}`,
    SWITCHYARD_BLOBS_DIR: folder,
    ...overrides,
  }
  return { settings: loadSettings(environment), port }
}

/** Without limits: tests of limits pin another tier. */
async function makeOrganization({ orgs, limits }: Wired, name: string): Promise<TestOrganization> {
  const { orgId, adminKey } = await orgs.createOrganization({ name })
  await limits.pinTier(orgId, 'unlimited')
  const { key: adsKey } = await orgs.mintAdsKey({ orgId, name: 'ads' })
  return { id: orgId, adminKey, adsKey, project: await makeProject(orgs, orgId, `${name} project`) }
}

async function makeProject(orgs: Orgs, orgId: OrgId, name: string): Promise<TestProject> {
  const { projectId } = await orgs.createProject({ orgId, name })
  const { key } = await orgs.mintProjectKey({ orgId, projectId, name: 'test' })
  return { id: projectId, key }
}
