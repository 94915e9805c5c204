import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { hashKeyText, isKeyText, keyPrefixes, mintKeyText, type KeyKind } from './key-text.ts'

const kinds = Object.keys(keyPrefixes) as KeyKind[]
const anyKind = fc.constantFrom(...kinds)
const anyTag = fc.stringMatching(/^[a-z0-9]{1,8}$/)

test('a minted key carries its kind and cell, and is recognised without a lookup', () => {
  fc.assert(
    fc.property(anyKind, anyTag, (kind, tag) => {
      const { value } = mintKeyText(kind, tag)
      assert.ok(value.startsWith(`${keyPrefixes[kind]}${tag}_`))
      assert.match(value, /_[0-9a-z]{52}_[0-9a-z]{6}$/)
      assert.ok(isKeyText(value))
    }),
  )
})

test('a key with any one character changed is refused without a lookup', () => {
  const { value } = mintKeyText('project', 'c1')
  for (let at = 0; at < value.length; at += 1) {
    for (const char of '0az') {
      if (value[at] === char) continue
      assert.equal(isKeyText(value.slice(0, at) + char + value.slice(at + 1)), false, `position ${at}`)
    }
  }
})

test('two neighbouring characters swapped, a cut end or added text make a key unknown', () => {
  const { value } = mintKeyText('ads', 'c1')
  for (let at = 0; at + 1 < value.length; at += 1) {
    const swapped = value.slice(0, at) + value[at + 1] + value[at] + value.slice(at + 2)
    if (swapped !== value) assert.equal(isKeyText(swapped), false)
  }
  assert.equal(isKeyText(value.slice(0, -1)), false)
  assert.equal(isKeyText(`${value}0`), false)
  assert.equal(isKeyText(` ${value}`), false)
})

test('arbitrary text is not taken for a key', () => {
  fc.assert(fc.property(fc.string({ maxLength: 250 }), (text) => !isKeyText(text)))
})

test('no two keys are the same, and what is kept shows only the prefix and four characters of the checksum', () => {
  const first = mintKeyText('admin', 'c1')
  const second = mintKeyText('admin', 'c1')
  assert.notEqual(first.value, second.value)
  assert.equal(first.redacted, `sk-admin-...${first.value.slice(-4)}`)
  assert.deepEqual(first.hash, hashKeyText(first.value))
  assert.equal(first.hash.length, 32)
})
