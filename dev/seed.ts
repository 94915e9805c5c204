import type { OrgId, ProjectId } from '@switchyard/contracts/ids.ts'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { loadBook, pinnableTiers, pinTier } from '#modules/limits/index.ts'
import { createOrgs, type Orgs } from '#modules/orgs/index.ts'
import { publisherWithoutSender } from '#modules/webhooks/index.ts'
import { openDatabase, type Database } from '#platform/db/db.ts'
import { createLog } from '#platform/telemetry/log.ts'

/** The first organisation with its keys, the same at every start. */
export interface Seeded {
  readonly orgId: OrgId
  readonly projectId: ProjectId
  readonly projectKey: string
  readonly adminKey: string
  readonly adsKey: string
}

export type DevTier = (typeof pinnableTiers)[number]

/** Without a word there are no limits: they would only be in the way. */
export function readDevTier(text: string | undefined): DevTier {
  const tier = pinnableTiers.find((one) => one === (text ?? 'unlimited'))
  if (tier === undefined) throw new Error(`SWITCHYARD_DEV_TIER=${text}: take one of ${pinnableTiers.join(', ')}.`)
  return tier
}

async function setTier(db: Database, orgs: Orgs, orgId: OrgId, tier: DevTier): Promise<void> {
  const now = await db.now()
  const publish = publisherWithoutSender(() => now)
  const tiers = { book: loadBook(null, []), orgs, publish, changed: () => undefined }
  await db.tx((tx) => pinTier(tiers, tx, orgId, tier))
}

export async function seed(use: { postgresUrl: string; dataDir: string; tier: DevTier }): Promise<Seeded> {
  const file = join(use.dataDir, 'dev-seed.json')
  const db = openDatabase({
    url: use.postgresUrl,
    connectionsMax: 2,
    statementTimeoutMs: 15_000,
    applicationName: 'switchyard dev',
    onIdleError: () => undefined,
  })
  try {
    const orgs = createOrgs({ db, log: createLog({ level: 'warn', pretty: true, name: 'seed' }), cellTag: 'c0' })
    if (existsSync(file)) {
      const kept = JSON.parse(readFileSync(file, 'utf8')) as Seeded
      // Another database may stand behind the same folder: then the keys open nothing and are made again.
      if ((await orgs.authenticate(kept.projectKey)) !== null) {
        await setTier(db, orgs, kept.orgId, use.tier)
        return kept
      }
    }
    const { orgId, adminKey } = await orgs.createOrganization({ name: 'Dev' })
    await setTier(db, orgs, orgId, use.tier)
    const { projectId } = await orgs.createProject({ orgId, name: 'Dev project' })
    const { key: projectKey } = await orgs.mintProjectKey({ orgId, projectId, name: 'dev' })
    const { key: adsKey } = await orgs.mintAdsKey({ orgId, name: 'dev' })
    const made: Seeded = { orgId, projectId, projectKey, adminKey, adsKey }
    writeFileSync(file, `${JSON.stringify(made, null, 2)}\n`, { mode: 0o600 })
    return made
  } finally {
    await db.close()
  }
}
