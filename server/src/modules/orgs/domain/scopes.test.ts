import { operations } from '@switchyard/contracts/operations.ts'
import assert from 'node:assert/strict'
import test from 'node:test'
import { Fault } from '#platform/errors/fault.ts'
import { knownScopes, storedScopes } from './scopes.ts'

const scopes = knownScopes(operations)

test('a key without a restriction opens everything of its kind', () => {
  assert.equal(scopes.granted('project_key', null), null)
  assert.equal(storedScopes([]), null)
  assert.equal(storedScopes(undefined), null)
})

test('names as the SDKs write them and as our operations say them mean the same', () => {
  assert.deepEqual(scopes.granted('project_key', ['api.files.read']), new Set(['files.read']))
  assert.deepEqual(scopes.granted('project_key', ['files.read']), new Set(['files.read']))
})

test('api.all.read opens every operation that reads and none that writes', () => {
  const granted = scopes.granted('project_key', ['api.all.read'])
  for (const { auth, scope } of operations) {
    if (auth === 'project_key') assert.equal(granted?.has(scope), scope.endsWith('.read'), scope)
  }
})

test('a scope that no operation of this kind of key asks for is refused by its place', () => {
  for (const given of [
    ['files.read', 'files.fly'],
    ['files.read', 'organization.read'],
  ]) {
    assert.throws(
      () => scopes.check('project_key', given),
      (error) => error instanceof Fault && error.code === 'invalid_value' && error.param === 'scopes[1]',
    )
  }
  scopes.check('project_key', ['files.read', 'api.files.write', 'api.all.read'])
})

test('a restriction is within another when it opens nothing more', () => {
  const within = (inner: string[] | null, outer: string[] | null) => scopes.within('admin_key', inner, outer)
  assert.equal(within(null, null), true)
  assert.equal(within(['organization.read'], null), true)
  assert.equal(within(null, ['organization.read']), false)
  assert.equal(within(['organization.read'], ['api.all.read']), true)
  assert.equal(within(['api.all.read'], ['organization.read']), false)
  assert.equal(within(['organization.write'], ['api.all.read']), false)
})

test('a name given twice is kept once', () => {
  assert.deepEqual(storedScopes(['files.read', 'files.read']), ['files.read'])
})
