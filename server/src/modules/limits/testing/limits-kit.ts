import { createPayment } from '@switchyard/contracts/organization/payments.ts'
import { retrieveUsageTier, type UsageTier } from '@switchyard/contracts/organization/usage-tier.ts'
import { sql } from 'kysely'
import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { stringify } from 'yaml'
import { newId } from '#platform/std/ids.ts'
import type { TestApp } from '../../../../test/test-app.ts'

/** Settings with a limits file of this content. */
export async function limitsFile(t: TestContext, content: unknown): Promise<Record<string, string>> {
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-limits-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'limits.yaml')
  await writeFile(file, stringify(content))
  return { SWITCHYARD_LIMITS: file }
}

export async function pay(app: TestApp, amount: number, key: string = app.org.adminKey): Promise<void> {
  const body = { amount, currency: 'usd', reference: newId('invoice-') }
  const reply = await app.call(createPayment, { body, key })
  assert.equal(reply.status, 200, reply.text)
}

export async function tierOf(app: TestApp, key: string = app.org.adminKey): Promise<UsageTier> {
  const reply = await app.call(retrieveUsageTier, { key })
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}

/** What a project was told of its tier, in order: `free → tier_1`. */
export async function tierNews(app: TestApp, projectId: string): Promise<string[]> {
  const { rows } = await sql<{ body: string }>`
    select body from webhooks.event
    where project_id = ${projectId} and type = 'organization.usage_tier.updated' order by id`.execute(app.db.kysely)
  return rows.map(({ body }) => {
    const { data } = JSON.parse(body) as { data: { id: string; previous_tier: string; tier: string } }
    return `${data.previous_tier} → ${data.tier}`
  })
}
