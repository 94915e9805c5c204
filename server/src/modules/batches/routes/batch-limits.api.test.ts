import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createChatCompletion } from '@switchyard/contracts/chat-completions.ts'
import { sql } from 'kysely'
import { becomesTrue } from '../../../../../dev/engines/wait-until.ts'
import { batchLine } from '../testing/batch-lines.ts'
import { batchesKit } from '../testing/batches-kit.ts'

const boundMs = 20_000
const endpoint = '/v1/chat/completions'
const messages = [{ role: 'user', content: 'Hello.' }]

/** Lines of about so many input tokens altogether. */
function linesOf(tokens: number): object[] {
  const each = 10_000
  const text = 'word '.repeat((each * 4) / 5)
  return Array.from({ length: tokens / each }, (_, at) => batchLine(endpoint, `line-${at}`, text))
}

test('limits of batches', async (t) => {
  const kit = await batchesKit(t)

  // S3-8.9-a
  await t.test('a batch takes nothing from the limits of other requests', async () => {
    await kit.app.wired.limits.pinTier(kit.app.org.id, 'free')
    const ask = () => kit.app.call(createChatCompletion, { body: { model: 'double-chat', messages } })
    const before = await ask()
    assert.equal(before.headers.get('x-ratelimit-limit-requests'), '3')
    const { id } = await kit.create(linesOf(100_000), endpoint)
    assert.deepEqual((await kit.ended(id)).request_counts, { total: 10, completed: 10, failed: 0 })
    const after = await ask()
    assert.equal(after.status, 200, 'ten lines a moment ago, and three requests a minute')
    assert.ok(Number(after.headers.get('x-ratelimit-remaining-tokens')) > 39_000, 'of 40,000 tokens a minute')
  })

  // S3-8.5-a S3-8.5-b
  await t.test('batches queue up to the limit of their model, and make room when they end', async () => {
    await kit.app.wired.limits.pinTier(kit.app.org.id, 'free')
    const held = Promise.withResolvers<string>()
    kit.app.double.decide(() => held.promise)

    const first = await kit.create(linesOf(150_000), endpoint)
    assert.ok(await becomesTrue(async () => (await kit.read(first.id)).status === 'in_progress', boundMs))
    const over = await kit.ended((await kit.create(linesOf(60_000), endpoint)).id)
    const [error] = over.errors?.data ?? []
    assert.deepEqual([over.status, error?.code, error?.line], ['failed', 'token_limit_exceeded', null])
    assert.match(error?.message ?? '', /organization.*double.*200000/s)
    assert.deepEqual(await kit.news(over.id), ['batch.failed'])
    const fits = await kit.create(linesOf(30_000), endpoint)
    assert.ok(await becomesTrue(async () => (await kit.read(fits.id)).status === 'in_progress', boundMs))

    held.resolve('Done.')
    assert.deepEqual(
      [(await kit.ended(first.id)).status, (await kit.ended(fits.id)).status],
      ['completed', 'completed'],
    )
    const again = await kit.ended((await kit.create(linesOf(60_000), endpoint)).id)
    assert.equal(again.status, 'completed')
  })

  await t.test('a project may have a lower queue of its own', async () => {
    const { org, project } = kit.app
    kit.app.double.decide(() => 'Done.')
    await sql`insert into limits.project_limit (project_id, limit_group, org_id, batch_queue_tokens)
      values (${project.id}, 'double', ${org.id}, 20000)`.execute(kit.app.db.kysely)
    await kit.app.wired.limits.pinTier(org.id, 'free')
    const over = await kit.ended((await kit.create(linesOf(30_000), endpoint)).id)
    assert.deepEqual([over.status, over.errors?.data[0]?.code], ['failed', 'token_limit_exceeded'])
    assert.match(over.errors?.data[0]?.message ?? '', /project/)
  })

  await t.test('what lines used counts towards the month, and when that is full the rest of them fail', async () => {
    const { org } = kit.app
    // One cent more than was spent until now.
    await sql`
      insert into limits.spend_limit (org_id, threshold_cents)
      select ${org.id}, 1 + ceil(coalesce(sum(cost_nanos), 0) / 1e7) from limits.usage`.execute(kit.app.db.kysely)
    await sql`delete from limits.project_limit`.execute(kit.app.db.kysely)
    await kit.app.wired.limits.pinTier(org.id, 'tier_5')
    // Two cents.
    kit.app.double.decide(() => ({ text: 'Dear.', usage: { input: 20_000, output: 0 } }))
    const line = batchLine('/v1/responses', 'a', 'Hello.')
    assert.equal((await kit.ended((await kit.create([line])).id)).request_counts.completed, 1)

    const charged = { orgId: org.id, projectId: kit.app.project.id, keyId: 'key_none', requestId: 'req_none' }
    const full = async () =>
      await kit.app.wired.limits.checkSpend(charged).then(
        () => false,
        () => true,
      )
    assert.ok(await becomesTrue(full, boundMs))
    const asked = kit.app.double.requests.length
    const ended = await kit.ended((await kit.create([line])).id)
    assert.deepEqual(ended.request_counts, { total: 1, completed: 0, failed: 1 })
    const [failed] = await kit.linesOf(ended.error_file_id)
    const told = failed?.response?.body['error'] as { code: string } | undefined
    assert.deepEqual([failed?.response?.status_code, told?.code], [429, 'insufficient_quota'])
    assert.equal(kit.app.double.requests.length, asked)
    const direct = await kit.app.call(createChatCompletion, { body: { model: 'double-chat', messages } })
    assert.deepEqual([direct.status, direct.error.code], [429, 'insufficient_quota'])
  })
})
