import assert from 'node:assert/strict'
import { test } from 'node:test'
import { webhookEventTypes } from '@switchyard/contracts/webhook-events.ts'
import { becomesTrue } from '../../../../../dev/engines/wait-until.ts'
import { sampleData } from '../domain/sample-events.ts'
import { webhooksKit } from '../testing/webhooks-kit.ts'

const boundMs = 30_000

// S3-1.2-a S3-1.2-b S3-1.2-c S3-1.2-d S3-1.2-e S3-2.2-a S3-2.2-b S3-2.2-c S3-2.2-d S3-2.2-e S3-2.3-d S3-4.4-a
test('news of batches, responses, fine-tuning jobs, eval runs and calls arrives as a POST in the envelope', async (t) => {
  const { app, sink, endpoint } = await webhooksKit(t)
  await endpoint('/hook', [...webhookEventTypes])
  const before = Math.floor(Date.now() / 1_000) - 1
  const news = webhookEventTypes.map((type) => ({ projectId: app.project.id, type, data: sampleData(type, 'whe_1') }))
  const ids = await app.db.tx((tx) => app.wired.webhooks.publish(tx, ...news))
  assert.ok(await becomesTrue(() => sink.received.length === news.length, boundMs))
  const arrived = new Map(sink.received.map((received) => [received.headers['webhook-id'], received]))
  for (const [index, { type, data }] of news.entries()) {
    const id = ids[index] ?? ''
    const received = arrived.get(`wh_${id.slice('evt_'.length)}`)
    assert.ok(received !== undefined, type)
    const event = JSON.parse(received.body) as Record<string, unknown>
    const { created_at: createdAt, ...rest } = event
    assert.match(id, /^evt_[0-9a-z]{26}$/)
    assert.deepEqual(rest, { id, object: 'event', type, data })
    assert.ok(Number.isInteger(createdAt) && Number(createdAt) >= before && Number(createdAt) <= before + 60)
    const sentAt = Number(received.headers['webhook-timestamp'])
    assert.ok(Number.isInteger(sentAt) && sentAt >= Number(createdAt) - 1 && sentAt <= before + 60)
  }
})
