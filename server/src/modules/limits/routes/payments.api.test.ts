import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPayment, listPayments, type Payment } from '@switchyard/contracts/organization/payments.ts'
import { refusalOf } from '#modules/orgs/testing/orgs-kit.ts'
import { testApp } from '../../../../test/test-app.ts'
import { tierOf } from '../testing/limits-kit.ts'

const payment = (reference: string, amount = 5) => ({ amount, currency: 'usd', reference })

test('a payment is recorded once under its reference and listed, newest first, to its organisation alone', async (t) => {
  const app = await testApp(t)
  const made: Payment[] = []
  for (const [at, amount] of [0.01, 19.99, 1_234.56].entries()) {
    const reply = await app.call(createPayment, { body: payment(`invoice ${at}`, amount) })
    assert.equal(reply.status, 200, reply.text)
    const { id, created_at } = reply.body
    assert.match(id, /^pay_/)
    const seen = { id, object: 'organization.payment', amount, currency: 'usd', reference: `invoice ${at}`, created_at }
    assert.deepEqual(reply.body, seen)
    made.unshift(reply.body)
  }
  const again = await app.call(createPayment, { body: payment('invoice 1', 20) })
  assert.deepEqual(refusalOf(again), [409, 'already_exists', 'reference'])
  assert.equal(again.headers.get('x-should-retry'), 'false')
  const elsewhere = await app.call(createPayment, { body: payment('invoice 1'), key: app.otherOrg.adminKey })
  assert.equal(elsewhere.status, 200, 'a reference is the name within one organisation')

  const first = (await app.call(listPayments, { query: { limit: 2 } })).body
  assert.deepEqual([first.data, first.has_more], [made.slice(0, 2), true])
  const rest = (await app.call(listPayments, { query: { after: first.last_id ?? '' } })).body
  assert.deepEqual([rest.data, rest.has_more], [made.slice(2), false])
  assert.equal((await tierOf(app)).total_paid.value, 1_254.56)
  const foreign = await app.call(listPayments, { query: { after: elsewhere.body.id } })
  assert.deepEqual(refusalOf(foreign), [400, 'invalid_value', 'after'])
})

test('a request repeated under its Idempotency-Key is one payment', async (t) => {
  const app = await testApp(t)
  const send = () => app.call(createPayment, { body: payment('once'), headers: { 'idempotency-key': 'a' } })
  const [first, second] = [await send(), await send()]
  assert.deepEqual(second.body, first.body)
  assert.equal((await tierOf(app)).total_paid.value, 5)
})

test('what is no amount of US dollars and cents is refused by name', async (t) => {
  const app = await testApp(t)
  const send = async (body: unknown) => refusalOf(await app.call(createPayment, { body }))
  assert.deepEqual(await send(payment('x', 0)), [400, 'integer_below_min_value', 'amount'])
  assert.deepEqual(await send(payment('x', -5)), [400, 'integer_below_min_value', 'amount'])
  assert.deepEqual(await send(payment('x', 4.999)), [400, 'invalid_value', 'amount'])
  assert.deepEqual(await send(payment('x', 1e9)), [400, 'integer_above_max_value', 'amount'])
  assert.deepEqual(await send({ ...payment('x'), amount: '5' }), [400, 'invalid_type', 'amount'])
  assert.deepEqual(await send({ ...payment('x'), currency: 'eur' }), [400, 'invalid_value', 'currency'])
  assert.deepEqual(await send(payment('')), [400, 'string_below_min_length', 'reference'])
  assert.equal((await tierOf(app)).total_paid.value, 0)
})
