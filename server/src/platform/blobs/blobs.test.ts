import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isBlobName, newBlobName } from './blobs.ts'

test('each new name is another one, and a name', () => {
  const names = new Set(Array.from({ length: 1_000 }, () => newBlobName('ad-images')))
  assert.equal(names.size, 1_000)
  for (const name of names) assert.match(name, /^ad-images\/[0-9a-f]{3}\/[0-9a-f]{29}$/)
})

test('nothing that could leave the folder of blobs is a name', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('.', '/', '\\', 'a', '0', '\0', '\n', '%') }), (text) => {
      assert.equal(isBlobName(text), false)
    }),
  )
  const name = newBlobName('files')
  for (const other of [`/${name}`, `${name}\n`, `../${name}`, name.toUpperCase(), name.slice(0, -1), `${name}0`]) {
    assert.equal(isBlobName(other), false, other)
  }
})
