import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SchemaCompiler } from './compile-schema.ts'

const compiler = () => new SchemaCompiler()
const drafts = [
  'http://json-schema.org/draft-04/schema#',
  'http://json-schema.org/draft-06/schema#',
  'http://json-schema.org/draft-07/schema',
  'https://json-schema.org/draft/2019-09/schema',
  'https://json-schema.org/draft/2020-12/schema#',
]

test('schemas of every draft in use are understood', () => {
  for (const $schema of drafts) {
    const check = compiler().compile({
      $schema,
      definitions: { word: { type: 'string', minLength: 2 } },
      properties: { a: { $ref: '#/definitions/word' } },
    })
    assert.deepEqual([check({ a: 'ab' }), check({ a: 'a' })], [null, 'item.a must NOT have fewer than 2 characters'])
  }
})

test('a schema that names no draft is read in the newest one it is valid in', () => {
  const list2020 = compiler().compile({ prefixItems: [{ type: 'string' }], items: { type: 'number' } })
  assert.deepEqual([list2020(['a', 1]), list2020(['a', 'b'])], [null, 'item[1] must be number'])
  const list07 = compiler().compile({ items: [{ type: 'string' }], additionalItems: { type: 'number' } })
  assert.deepEqual([list07(['a', 1]), list07(['a', 'b'])], [null, 'item[1] must be number'])
})

test('formats are checked, patterns may be written either way, unknown words are passed over', () => {
  const check = compiler().compile({
    id: 'x',
    colour: 'red',
    properties: { d: { format: 'date' }, p: { pattern: '^[\\w-.]+$' } },
  })
  assert.deepEqual(
    [check({ d: '2026-02-28', p: 'a-b' }), check({ d: '2026-02-30' }), check({ p: '!' })],
    [null, 'item.d must match format "date"', 'item.p must match pattern "^[\\w-.]+$"'],
  )
  const emoji = compiler().compile({ pattern: '^.$' })
  assert.deepEqual([emoji('😀'), emoji('ab')], [null, 'item must match pattern "^.$"'])
})

test('a schema may refer to itself and to the schema of schemas', () => {
  const tree = compiler().compile({ type: 'object', properties: { next: { $ref: '#' } } })
  assert.deepEqual([tree({ next: { next: {} } }), tree({ next: { next: 1 } })], [null, 'item.next.next must be object'])
  const schema = compiler().compile({ $schema: drafts[2], $ref: 'http://json-schema.org/draft-07/schema#' })
  assert.equal(schema({ type: 'object' }), null)
  assert.match(schema({ type: 'text' }) ?? '', /^item\.type must match a schema in anyOf: item\.type must be equal/)
})
