import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  retireWebhookSecret,
  retrieveWebhookEndpoint,
  rotateWebhookSecret,
  secretOverlapSecondsMax,
  secretsActiveMax,
} from '@switchyard/contracts/webhooks.ts'
import { webhooksKit, type WebhooksKit } from '../testing/webhooks-kit.ts'

const rotate = ({ app }: WebhooksKit, id: string, body?: Record<string, unknown>) =>
  app.call(rotateWebhookSecret, { params: { webhook_endpoint_id: id }, ...(body && { body }) })

// S3-2.1-f S3-5.3
test('a rotation gives a new secret at once, and without an overlap the old one signs no more', async (t) => {
  const kit = await webhooksKit(t)
  const made = await kit.endpoint('/hook')
  const { status, body } = await rotate(kit, made.id)
  assert.equal(status, 200)
  assert.notEqual(body.signing_secret, made.signing_secret)
  assert.match(body.signing_secret, /^whsec_/)
  assert.equal(body.signing_secret_hint, `whsec_…${body.signing_secret.slice(-4)}`)
  assert.deepEqual(
    body.secrets.map(({ active_until: until }) => until),
    [null],
  )
  const explicit = await rotate(kit, made.id, { keep_old_secret_active_for_24_hours: false })
  assert.equal(explicit.body.secrets.length, 1)
})

test('an overlap lasts 24 hours or the seconds asked for, not both, and a month at most', async (t) => {
  const kit = await webhooksKit(t)
  const { id } = await kit.endpoint('/hook')
  const leftOf = (until: number | null | undefined) => Math.round((until ?? 0) - Date.now() / 1_000)
  const day = await rotate(kit, id, { keep_old_secret_active_for_24_hours: true })
  assert.ok(Math.abs(leftOf(day.body.secrets[1]?.active_until) - 86_400) < 60)
  const hour = await rotate(kit, id, { keep_old_secret_active_for_seconds: 3_600 })
  assert.equal(hour.body.secrets.length, 3)
  assert.ok(Math.abs(leftOf(hour.body.secrets[1]?.active_until) - 3_600) < 60)
  const both = await rotate(kit, id, {
    keep_old_secret_active_for_24_hours: true,
    keep_old_secret_active_for_seconds: 1,
  })
  assert.deepEqual([both.status, both.error.code], [400, 'mutually_exclusive_parameters'])
  const long = await rotate(kit, id, { keep_old_secret_active_for_seconds: secretOverlapSecondsMax + 1 })
  assert.deepEqual([long.status, long.error.code], [400, 'integer_above_max_value'])
})

test('an old secret can be retired before its time; the current one cannot', async (t) => {
  const kit = await webhooksKit(t)
  const { id } = await kit.endpoint('/hook')
  const { body } = await rotate(kit, id, { keep_old_secret_active_for_24_hours: true })
  const [current, old] = body.secrets
  const retire = (secretId = '') =>
    kit.app.call(retireWebhookSecret, { params: { webhook_endpoint_id: id, secret_id: secretId } })
  assert.equal((await retire(current?.id)).error.code, 'invalid_state_transition')
  const retired = await retire(old?.id)
  assert.deepEqual(
    retired.body.secrets.map((secret) => secret.id),
    [current?.id],
  )
  assert.equal((await retire(old?.id)).status, 404)
  const read = await kit.app.call(retrieveWebhookEndpoint, { params: { webhook_endpoint_id: id } })
  assert.deepEqual(read.body, retired.body)
})

test('with as many secrets as can sign, a leaked one can still be replaced at once', async (t) => {
  const kit = await webhooksKit(t)
  const { id } = await kit.endpoint('/hook')
  for (let active = 1; active < secretsActiveMax; active += 1)
    assert.equal((await rotate(kit, id, { keep_old_secret_active_for_seconds: 600 })).status, 200)
  assert.equal((await rotate(kit, id, { keep_old_secret_active_for_seconds: 600 })).status, 409)
  const { status, body } = await rotate(kit, id)
  assert.deepEqual([status, body.secrets.length], [200, secretsActiveMax])
})
