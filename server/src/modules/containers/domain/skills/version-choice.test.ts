import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readVersion } from './version-choice.ts'

test('a version is a positive integer or latest, and nothing else', () => {
  assert.deepEqual(['1', '12', '2147483647', 'latest'].map(readVersion), [1, 12, 2_147_483_647, 'latest'])
  for (const text of [
    '',
    '0',
    '-1',
    '01',
    '1.0',
    '1e3',
    ' 1',
    'Latest',
    'default',
    '2147483648',
    '99999999999',
    '１',
  ]) {
    assert.equal(readVersion(text), null, text)
  }
})
