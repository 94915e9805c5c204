import assert from 'node:assert/strict'
import { test } from 'node:test'
import { kindOf, selectTests } from './kinds.ts'

const PATHS = [
  'packages/contracts/src/page.test.ts',
  'server/src/modules/files/store/files.int.test.ts',
  'server/src/modules/files/routes/create-file.api.test.ts',
  'server/test/sweeps/no-key.test.ts',
  'server/src/platform/blobs/s3.s3.test.ts',
  'e2e/compat/files.test.ts',
  'e2e/kill.chaos.test.ts',
]

test('a test runs with the command that its name asks for', () => {
  assert.deepEqual(PATHS.map(kindOf), ['unit', 'int', 'api', 'sweep', 's3', 'compat', 'chaos'])
})

test('the integration command runs stores, routes and sweeps, and nothing that asks for more', () => {
  assert.deepEqual(selectTests(PATHS, 'int', []), PATHS.slice(1, 4))
})

test('a part of a path picks the tests to run', () => {
  assert.deepEqual(selectTests(PATHS, 'int', ['files/routes', './server/test']), [PATHS[2], PATHS[3]])
})

test('a misspelt kind is refused rather than never run', () => {
  assert.throws(() => kindOf('server/src/x.itn.test.ts'), /no kind of test/)
})
