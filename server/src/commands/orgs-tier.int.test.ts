import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { test } from 'node:test'
import { sql } from 'kysely'
import { openDatabase } from '#platform/db/db.ts'
import { testDatabase } from '../../test/test-database.ts'
import { orgsCreate } from './orgs-create.ts'
import { orgsTier } from './orgs-tier.ts'

const main = fileURLToPath(new URL('../main.ts', import.meta.url))
const boundMs = 30_000

interface Outcome {
  readonly code: number
  readonly said: string
}

function switchyard(url: string, ...args: string[]): Promise<Outcome> {
  const env = { PATH: process.env['PATH'], SWITCHYARD_POSTGRES_URL: url }
  return new Promise((resolve) => {
    execFile(process.execPath, [main, ...args], { env, timeout: boundMs }, (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), said: stdout + stderr })
    })
  })
}

test('the operator makes an organisation in a tier, sets another one, and leaves it to payments again', async (t) => {
  const { url, drop } = await testDatabase()
  const db = openDatabase({
    url,
    connectionsMax: 1,
    statementTimeoutMs: 10_000,
    applicationName: 'test',
    onIdleError: () => undefined,
  })
  t.after(async () => {
    await db.close()
    await drop()
  })
  const standing = async (orgId: string) =>
    (await sql`select tier, pinned_tier from limits.organization where org_id = ${orgId}`.execute(db.kysely)).rows[0]

  const made = await switchyard(url, 'orgs', 'create', '--name=Trusted', '--region=eu-west', '--tier=unlimited')
  const orgId = /^organisation {2}(org-\S+)$/m.exec(made.said)?.[1] ?? ''
  assert.deepEqual([made.code, orgId !== ''], [0, true], made.said)
  assert.deepEqual(await standing(orgId), { tier: 'free', pinned_tier: 'unlimited' })
  const region = await sql`select region from orgs.organization where id = ${orgId}`.execute(db.kysely)
  assert.deepEqual(region.rows, [{ region: 'eu-west' }])

  const set = await switchyard(url, 'orgs', 'tier', `--org=${orgId}`, '--tier=tier_4')
  assert.deepEqual([set.code, /^tier +tier_4$/m.test(set.said)], [0, true], set.said)
  const left = await switchyard(url, 'orgs', 'tier', `--org=${orgId}`, '--tier=earned')
  assert.deepEqual([left.code, /^tier +free$/m.test(left.said)], [0, true], left.said)
  assert.deepEqual(await standing(orgId), { tier: 'free', pinned_tier: null })

  const nobody = await switchyard(url, 'orgs', 'tier', '--org=org-none', '--tier=tier_1')
  assert.deepEqual([nobody.code, nobody.said], [2, 'There is no organisation of this id.\n'])
})

test('a tier that does not exist, and a command without its organisation, are refused in words', async () => {
  const says = /No such tier\. There are: unlimited, free, .*earned/
  await assert.rejects(orgsTier.run(['--org=org-x', '--tier=tier_9']), says)
  await assert.rejects(orgsCreate.run(['--name=X', '--tier=none']), says)
  await assert.rejects(orgsTier.run(['--tier=tier_1']), /Name both/)
})
