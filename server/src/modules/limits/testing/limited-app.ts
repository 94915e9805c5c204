import type { TestContext } from 'node:test'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { testApp, type TestApp } from '../../../../test/test-app.ts'

/** Limits of the tier `tier_1`, as the file of limits writes them. */
export type TestLimits = Readonly<Record<string, number | null>>

/** The whole app with limits: the first organisation has tier 1 with these numbers, for every model. */
export async function limitedApp(
  t: TestContext,
  limits: TestLimits,
  settings: Record<string, string> = {},
  roles?: Parameters<typeof testApp>[2],
): Promise<TestApp> {
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-limits-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'limits.yaml')
  await writeFile(file, stringify({ tiers: { tier_1: { limits } } }))
  const app = await testApp(t, { SWITCHYARD_LIMITS: file, ...settings }, roles)
  await app.wired.limits.pinTier(app.org.id, 'tier_1')
  return app
}
