import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { newId } from '#platform/std/ids.ts'
import { deliveryId, readDeliveryId, webhookIdOf } from './delivery-id.ts'

test('a delivery id names its event and its endpoint, and only such an id is read', () => {
  for (let round = 0; round < 100; round += 1) {
    const eventId = newId('evt_')
    const endpointId = newId('whe_')
    assert.deepEqual(readDeliveryId(deliveryId(eventId, endpointId)), { eventId, endpointId })
  }
  fc.assert(fc.property(fc.string(), (text) => readDeliveryId(text) === null))
  const good = deliveryId(newId('evt_'), newId('whe_'))
  for (const text of [`${good}0`, ` ${good}`, good.slice(0, -1), good.toUpperCase(), `${good}\n`])
    assert.equal(readDeliveryId(text), null, text)
})

// S3-2.3-c
test('the webhook-id follows from the event, so every attempt to every endpoint has the same', () => {
  assert.equal(webhookIdOf('evt_01k9z3q4e8f6tv5x2m7c0n1b3a'), 'wh_01k9z3q4e8f6tv5x2m7c0n1b3a')
})
