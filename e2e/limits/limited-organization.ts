import { loadBook, pinTier } from '#modules/limits/index.ts'
import { createOrgs } from '#modules/orgs/index.ts'
import { publisherWithoutSender } from '#modules/webhooks/index.ts'
import { openDatabase } from '#platform/db/db.ts'
import { createLog } from '#platform/telemetry/log.ts'

/** An organisation of tier 1 with a project. */
export interface LimitedOrganization {
  readonly orgId: string
  readonly projectId: string
  readonly key: string
}

export async function makeOrganizations(postgresUrl: string, names: readonly string[]): Promise<LimitedOrganization[]> {
  const db = openDatabase({
    url: postgresUrl,
    connectionsMax: 2,
    statementTimeoutMs: 15_000,
    applicationName: 'limits proof',
    onIdleError: () => undefined,
  })
  try {
    const orgs = createOrgs({ db, log: createLog({ level: 'warn', pretty: true, name: 'proof' }), cellTag: 'c0' })
    const now = await db.now()
    const publish = publisherWithoutSender(() => now)
    const tiers = { book: loadBook(null, []), orgs, publish, changed: () => undefined }
    const made: LimitedOrganization[] = []
    for (const name of names) {
      const { orgId } = await orgs.createOrganization({ name })
      await db.tx((tx) => pinTier(tiers, tx, orgId, 'tier_1'))
      const { projectId } = await orgs.createProject({ orgId, name })
      const { key } = await orgs.mintProjectKey({ orgId, projectId, name })
      made.push({ orgId, projectId, key })
    }
    return made
  } finally {
    await db.close()
  }
}
