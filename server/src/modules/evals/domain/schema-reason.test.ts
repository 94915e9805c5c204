import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { schemaReason } from './schema-reason.ts'

const said = (instancePath: string, keyword = 'type', params = {}, message = 'must be string') => ({
  instancePath,
  keyword,
  params,
  message,
})

test('the place of a mistake is written as one would in a template', () => {
  assert.equal(schemaReason([said('')]), 'item must be string')
  assert.equal(schemaReason([said('/a/0/b')]), 'item.a[0].b must be string')
  assert.equal(schemaReason([said('/b c/d~1e~0f/"')]), 'item["b c"]["d/e~f"]["\\""] must be string')
  assert.equal(schemaReason([said('/größe')]), 'item.größe must be string')
})

test('the reason names the value or key it is about', () => {
  const extra = said('', 'additionalProperties', { additionalProperty: 'x' }, 'must NOT have additional properties')
  assert.equal(schemaReason([extra]), 'item must NOT have additional properties ("x")')
  const listed = said('/a', 'enum', { allowedValues: ['x', 1, null] }, 'must be equal to one of the allowed values')
  assert.equal(schemaReason([listed]), 'item.a must be equal to one of the allowed values ("x", 1, null)')
})

test('of several mistakes the first is told, with the choice it belongs to', () => {
  const choice = said('/a', 'anyOf', {}, 'must match a schema in anyOf')
  assert.equal(
    schemaReason([said('/a'), said('/a', 'type', {}, 'must be null'), choice]),
    'item.a must match a schema in anyOf: item.a must be string',
  )
})

test('a reason is one storable line of at most 500 characters, whatever keys and values hold', () => {
  const anything = fc.string({ unit: 'binary', maxLength: 600 })
  fc.assert(
    fc.property(anything, anything, fc.jsonValue(), (path, message, value) => {
      const reason = schemaReason([
        said(`/${path}`, 'const', { allowedValue: value }, message),
        said(path, 'if', {}, message),
      ])
      assert.ok(reason.length <= 500)
      assert.ok(reason.isWellFormed())
      assert.doesNotMatch(reason, /[\p{Cc}\u2028\u2029]/u)
    }),
  )
})
