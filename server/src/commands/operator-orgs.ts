import type { OrgId } from '@switchyard/contracts/ids.ts'
import { loadBook, pinnableTiers, pinTier } from '#modules/limits/index.ts'
import { createOrgs, type Orgs } from '#modules/orgs/index.ts'
import { publisherWithoutSender } from '#modules/webhooks/index.ts'
import { settingsFromEnvironment } from '#platform/config/environment.ts'
import { required } from '#platform/config/load.ts'
import { openDatabase } from '#platform/db/db.ts'
import { createLog } from '#platform/telemetry/log.ts'
import { UsageError } from './command.ts'

export type PinnedTier = (typeof pinnableTiers)[number]

export interface OperatorOrgs {
  readonly orgs: Orgs
  /** Null leaves the tier to payments. Gives the tier that holds from now on. */
  setTier(orgId: OrgId, tier: PinnedTier | null): Promise<string>
}

/** What the operator does with organisations at the command line, on a database that is open for so long. */
export async function withOperatorOrgs(command: string, work: (use: OperatorOrgs) => Promise<number>): Promise<number> {
  const settings = settingsFromEnvironment()
  const book = loadBook(settings.limits, null)
  const db = openDatabase({
    url: required(settings, 'postgresUrl').postgresUrl,
    connectionsMax: 1,
    statementTimeoutMs: settings.postgresStatementTimeoutMs,
    applicationName: `switchyard ${command}`,
    onIdleError: () => undefined,
  })
  try {
    const orgs = createOrgs({
      db,
      log: createLog({ level: 'warn', pretty: true, name: 'orgs' }),
      cellTag: settings.cellTag,
    })
    const now = await db.now()
    const tiers = { book, orgs, publish: publisherWithoutSender(() => now), changed: () => undefined }
    return await work({ orgs, setTier: (orgId, tier) => db.tx((tx) => pinTier(tiers, tx, orgId, tier)) })
  } finally {
    await db.close()
  }
}

/** Null is `earned`: what payments reach. */
export function readTier(text: string): PinnedTier | null {
  if (text === 'earned') return null
  const tier = pinnableTiers.find((one) => one === text)
  if (tier === undefined) throw new UsageError(`No such tier. There are: ${[...pinnableTiers, 'earned'].join(', ')}.`)
  return tier
}
