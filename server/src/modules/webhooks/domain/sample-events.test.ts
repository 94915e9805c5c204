import assert from 'node:assert/strict'
import { test } from 'node:test'
import { webhookEventTypes, type WebhookEventType } from '@switchyard/contracts/webhook-events.ts'
import type { UnwrapWebhookEvent } from 'openai/resources/webhooks/webhooks'
import { sampleData } from './sample-events.ts'

/** Ours, beside those that the SDK knows. */
type OwnType = 'organization.usage_tier.updated' | 'webhook_endpoint.disabled'
/** Does not compile when the SDK has no such event. */
const known: Readonly<Record<Exclude<WebhookEventType, OwnType>, UnwrapWebhookEvent['type']>> = Object.fromEntries(
  webhookEventTypes.map((type) => [type, type]),
) as never

test('there are events for batches, responses, fine-tuning, evals and calls, spelt as the SDK spells them', () => {
  const kinds = new Set(Object.keys(known).map((type) => type.slice(0, type.lastIndexOf('.'))))
  for (const kind of ['batch', 'response', 'fine_tuning.job', 'eval.run', 'realtime.call']) assert.ok(kinds.has(kind))
  const types: readonly string[] = webhookEventTypes
  assert.ok(types.includes('eval.run.canceled') && !types.includes('eval.run.cancelled'))
  assert.ok(types.includes('response.cancelled') && types.includes('batch.cancelled'))
})

// S3-2.4-a S3-2.4-b S3-2.4-c S3-2.4-d
test('a sample has the data of a real event of its type', () => {
  const prefixes: Record<string, RegExp> = {
    response: /^resp_/,
    batch: /^batch_/,
    'eval.run': /^evalrun_/,
    'fine_tuning.job': /^ftjob-/,
  }
  for (const type of webhookEventTypes) {
    const data = sampleData(type, 'whe_1')
    const kind = type.slice(0, type.lastIndexOf('.'))
    if (prefixes[kind] !== undefined) {
      assert.deepEqual(Object.keys(data), ['id'])
      assert.match(String(data['id']), prefixes[kind])
    }
  }
  const call = sampleData('realtime.call.incoming', 'whe_1') as {
    call_id: string
    sip_headers: { name: string; value: string }[]
  }
  assert.equal(typeof call.call_id, 'string')
  assert.deepEqual(
    call.sip_headers.map(({ name }) => name),
    ['From', 'To', 'Call-ID'],
  )
  const tier = sampleData('organization.usage_tier.updated', 'whe_1')
  assert.deepEqual(Object.keys(tier), ['id', 'previous_tier', 'tier'])
  assert.equal(sampleData('webhook_endpoint.disabled', 'whe_1')['id'], 'whe_1')
})
