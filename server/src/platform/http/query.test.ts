import fc from 'fast-check'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { z } from 'zod'
import { Fault } from '#platform/errors/fault.ts'
import { parseQuery, readQuery } from './query.ts'
import { thing } from './testing/test-server.ts'

const plain = (text: string): unknown => JSON.parse(JSON.stringify(parseQuery(text)))

function faultOf(work: () => unknown): Fault {
  try {
    work()
  } catch (error) {
    assert.ok(error instanceof Fault)
    return error
  }
  return assert.fail('accepted')
}

test('scalars, lists and maps arrive as the SDKs write them', () => {
  assert.deepEqual(plain('limit=20&after=file-1'), { limit: '20', after: 'file-1' })
  assert.deepEqual(plain('include[]=a&include%5B%5D=b'), { include: ['a', 'b'] })
  assert.deepEqual(plain('metadata%5Bk%5D=v&metadata[q]=w'), { metadata: { k: 'v', q: 'w' } })
  assert.deepEqual(plain('q=a+b%20c&empty=&bare&&'), { q: 'a b c', empty: '', bare: '' })
  assert.deepEqual(plain('u=%F0%9F%98%80&eq=a=b'), { u: '😀', eq: 'a=b' })
})

test('nothing that was sent twice is dropped', () => {
  assert.deepEqual(plain('a=1&a=2&a=3'), { a: ['1', '2', '3'] })
  assert.deepEqual(plain('m[k]=1&m[k]=2'), { m: { k: ['1', '2'] } })
})

test('a name in two shapes is refused by name', () => {
  for (const text of ['a=1&a[]=2', 'a=1&a[k]=2', 'a[]=1&a[k]=2', 'a[k]=1&a[]=2']) {
    const fault = faultOf(() => parseQuery(text))
    assert.deepEqual([fault.code, fault.param], ['invalid_type', 'a'], text)
  }
})

test('brackets that are neither a list nor a map are part of the name', () => {
  assert.deepEqual(plain('a[b][c]=1&[]=2&[k]=3&a]=4&b[=5&c[]d=6'), {
    'a[b][c]': '1',
    '[]': '2',
    '[k]': '3',
    'a]': '4',
    'b[': '5',
    'c[]d': '6',
  })
})

test('names of JavaScript are names like any other', () => {
  const query = parseQuery('__proto__=1&constructor=2&a[__proto__]=3&toString[]=5')
  assert.deepEqual(Object.keys(query).toSorted(), ['__proto__', 'a', 'constructor', 'toString'])
  assert.deepEqual(Object.keys(parseQuery('__proto__[x]=4')), ['__proto__'])
  assert.equal(({} as Record<string, unknown>)['x'], undefined)
  assert.equal(faultOf(() => readQuery(thing({}), '__proto__=1')).param, '__proto__')
})

test('bad percent-encoding is the caller’s mistake', () => {
  for (const text of ['a=%', 'a=%zz', '%ff=1', 'a=%C3%28', 'a=%ED%A0%80']) {
    assert.equal(faultOf(() => parseQuery(text)).code, 'invalid_value', text)
  }
})

test('a query is bounded in length and in parameters', () => {
  assert.equal(faultOf(() => parseQuery('a'.repeat(9_000))).status, 413)
  assert.equal(faultOf(() => parseQuery('a=1&'.repeat(200))).status, 413)
  assert.equal(Object.keys(parseQuery('a=1&'.repeat(99))).length, 1)
})

test('an operation without a query refuses every parameter by name', () => {
  assert.equal(readQuery(thing({}), ''), undefined)
  const fault = faultOf(() => readQuery(thing({}), 'limit=1'))
  assert.deepEqual([fault.code, fault.param], ['unknown_parameter', 'limit'])
})

test('text that cannot be stored is refused before the contract sees it', () => {
  const operation = thing({ query: z.strictObject({ q: z.string() }) })
  assert.equal(faultOf(() => readQuery(operation, 'q=a%00b')).param, 'q')
})

test('whatever stands behind the question mark is read or refused with a fault', () => {
  const operation = thing({
    query: z.strictObject({ limit: z.coerce.number().int().default(1), include: z.array(z.string()).optional() }),
  })
  const pieces = fc.constantFrom(
    'limit',
    'include',
    '[]',
    '[',
    ']',
    '=',
    '&',
    '%',
    '%00',
    '%5B',
    '%ff',
    '+',
    '__proto__',
    '1',
    'é',
  )
  const text = fc.oneof(
    fc.string({ unit: 'binary' }),
    fc.array(pieces, { maxLength: 30 }).map((parts) => parts.join('')),
  )
  fc.assert(
    fc.property(text, (query) => {
      try {
        readQuery(operation, query)
      } catch (error) {
        assert.ok(error instanceof Fault, String(error))
        assert.ok(error.status < 500)
      }
    }),
    { numRuns: 3_000 },
  )
})
