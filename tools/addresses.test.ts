import assert from 'node:assert/strict'
import { test } from 'node:test'
import { addressFaults } from './addresses.ts'

// Put together here, so that this file does not hold what it forbids.
const host = ['registry', 'example', 'org'].join('.')

test('a lock file carries no download address', () => {
  const faults = addressFaults('package-lock.json', '{ "resolved": "https://somewhere.test/x.tgz" }')
  assert.equal(faults.length, 1)
  assert.deepEqual(addressFaults('package-lock.json', '{ "resolved": "packages/contracts", "link": true }'), [])
})

test('npm settings of the project name no registry', () => {
  assert.equal(addressFaults('.npmrc', 'fund=false\n@own:registry=x\n').length, 1)
  assert.deepEqual(addressFaults('.npmrc', 'omit-lockfile-registry-resolved=true\n'), [])
})

test('no file names the host of a registry', () => {
  assert.equal(addressFaults('docs/install.md', `npm config get, then https://${host}/openai`).length, 1)
  assert.deepEqual(addressFaults('docs/install.md', 'A registry. Npm is a tool; see registry.ts and npm.test.ts.'), [])
})
