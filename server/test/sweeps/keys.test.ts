import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Auth, Operation } from '@switchyard/contracts/operation.ts'
import { callOperation, type CallInput } from '../call-operation.ts'
import { exampleOf, sweptOperations } from './examples.ts'
import { newServiceAccount } from './examples/organization.ts'
import { endKey, mintKey } from './minted-keys.ts'
import { keyFor, ownPlace, type Place } from './place.ts'
import { snapshot } from './snapshot.ts'
import { sweepApp } from './sweep-app.ts'

const kinds: readonly Auth[] = ['project_key', 'admin_key', 'ads_key']

const garbage = [
  'x',
  'sk-proj-',
  'sk-proj-c0_0000000000000000000000000000000000000000000000000000_000000',
  `sk-admin-${'0'.repeat(5_000)}`,
]

const call = (place: Place, operation: Operation, input: CallInput) =>
  callOperation(place.app.baseUrl, operation, input)

async function refusesWithoutKey(place: Place, operation: Operation, example: CallInput): Promise<void> {
  const none = await call(place, operation, { ...example, key: null })
  assert.equal(none.status, 401)
  assert.equal(none.error?.code, null)
  assert.equal(none.error?.type, 'invalid_request_error')
  for (const key of garbage) {
    const reply = await call(place, operation, { ...example, key })
    assert.deepEqual([reply.status, reply.error?.code], [401, 'invalid_api_key'], key.slice(0, 80))
  }
  const basic = await call(place, operation, { ...example, key: null, headers: { authorization: 'Basic eDp5' } })
  assert.deepEqual([basic.status, basic.error?.code], [401, 'invalid_api_key'])
}

async function refusesOtherKinds(place: Place, operation: Operation, example: CallInput): Promise<void> {
  const others = kinds.filter((kind) => kind !== operation.auth).map((kind) => keyFor(place, kind))
  if (operation.auth !== 'project_key') others.push((await newServiceAccount(place)).keyValue)
  for (const key of others) {
    const reply = await call(place, operation, { ...example, key })
    assert.deepEqual([reply.status, reply.error?.code], [401, 'invalid_api_key'], key.slice(0, 12))
  }
}

async function refusesEndedKeys(place: Place, operation: Operation, example: CallInput): Promise<void> {
  const unknown = await call(place, operation, { ...example, key: garbage[2] ?? '' })
  for (const how of ['revoked_at', 'expires_at'] as const) {
    const key = await mintKey(place, operation.auth)
    await endKey(place, key.id, how)
    const reply = await call(place, operation, { ...example, key: key.value })
    assert.deepEqual([reply.status, reply.text], [401, unknown.text], how)
  }
}

async function asksForItsScope(place: Place, operation: Operation, example: CallInput): Promise<void> {
  const other = sweptOperations().find(({ auth, scope }) => auth === operation.auth && scope !== operation.scope)
  assert.ok(other !== undefined)
  const without = await mintKey(place, operation.auth, [other.scope])
  const before = await snapshot(place.app)
  const refused = await call(place, operation, { ...example, key: without.value })
  assert.equal(refused.status, 403)
  assert.equal(refused.error?.code, 'insufficient_permissions')
  assert.equal(refused.error?.type, 'permission_error')
  assert.ok(refused.error.message.includes(operation.scope), refused.error.message)
  assert.deepEqual(await snapshot(place.app), before)
  const withScope = await mintKey(place, operation.auth, [operation.scope])
  const reply = await call(place, operation, { ...example, key: withScope.value })
  assert.ok(reply.status !== 401 && reply.error?.message.includes(operation.scope) !== true, reply.text)
}

test('every operation refuses no key, a bad key, a key of another kind, a dead key and a key without its scope', async (t) => {
  const place = ownPlace(await sweepApp(t))
  for (const operation of sweptOperations()) {
    await t.test(operation.id, async () => {
      const example = await exampleOf(operation, place)
      const before = await snapshot(place.app)
      await refusesWithoutKey(place, operation, example)
      assert.deepEqual(await snapshot(place.app), before)
      await refusesOtherKinds(place, operation, example)
      await refusesEndedKeys(place, operation, example)
      await asksForItsScope(place, operation, example)
    })
  }
})

test('a header that names another organisation or project than the key is refused', async (t) => {
  const place = ownPlace(await sweepApp(t))
  for (const operation of sweptOperations()) {
    const example = await exampleOf(operation, place)
    const key = keyFor(place, operation.auth)
    const organization = { 'openai-organization': place.app.otherOrg.id }
    const wrong = await call(place, operation, { ...example, key, headers: organization })
    assert.deepEqual([wrong.status, wrong.error?.code], [401, 'mismatched_organization'], operation.id)
    if (operation.auth !== 'project_key') continue
    const other = await call(place, operation, { ...example, key, headers: { 'openai-project': place.app.other.id } })
    assert.deepEqual([other.status, other.error?.code], [401, 'mismatched_project'], operation.id)
  }
})
