import { equal, throws } from 'node:assert/strict'
import { test } from 'node:test'

import fc from 'fast-check'

import { assert, AssertionFailed, unreachable } from './assert.ts'

test('an assertion passes exactly for what is truthy, and names what failed', () => {
  fc.assert(
    fc.property(fc.anything(), fc.string(), (value, message) => {
      if (value) assert(value, message)
      else throws(() => assert(value, message), { name: 'AssertionFailed', message })
    }),
  )
})

test('an assertion tells the compiler what it proved', () => {
  const found: string | undefined = ['a'][0]
  assert(found !== undefined, 'there is one')
  equal(found.length, 1)
})

test('a case that cannot happen names the value that did', () => {
  throws(
    () => unreachable({ state: 'lost' } as never),
    (error) => error instanceof AssertionFailed && error.message.includes('lost'),
  )
})
