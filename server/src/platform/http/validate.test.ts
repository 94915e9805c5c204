import fc from 'fast-check'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { z } from 'zod'
import { Fault } from '#platform/errors/fault.ts'
import { paramOf } from './param-path.ts'
import { validate } from './validate.ts'

function refused(schema: z.ZodType, input: unknown): { code: string; param: string | null; message: string } {
  try {
    validate(schema, input)
  } catch (error) {
    assert.ok(error instanceof Fault, `not a fault: ${String(error)}`)
    return { code: error.code, param: error.param, message: error.message }
  }
  return assert.fail('the input was accepted')
}

const Tool = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('shell'), timeout_ms: z.int().min(1).max(1000) }),
  z.strictObject({ type: z.literal('function'), name: z.string() }),
])
const Part = z.union([
  z.strictObject({ type: z.literal('text'), text: z.string() }),
  z.strictObject({ type: z.literal('image'), url: z.url() }),
])
const Body = z.strictObject({
  model: z.string().min(2).max(5),
  count: z.int().min(1).max(10).optional(),
  tags: z.array(z.string()).min(1).max(2).optional(),
  input: z.union([z.string(), z.array(Part)]).optional(),
  tools: z.array(Tool).optional(),
  purpose: z.enum(['evals', 'batch']).optional(),
  metadata: z.record(z.string().max(4), z.string()).optional(),
  step: z.number().multipleOf(5).optional(),
  md5: z
    .string()
    .regex(/^[0-9a-f]{4}$/)
    .optional(),
  exact: z.array(z.int()).length(2).optional(),
})

const cases: [name: string, input: unknown, code: string, param: string | null][] = [
  ['a missing field', {}, 'missing_required_parameter', 'model'],
  ['an explicit null', { model: null }, 'invalid_type', 'model'],
  ['a wrong type', { model: 3 }, 'invalid_type', 'model'],
  ['an unknown field', { model: 'abc', modle: 1 }, 'unknown_parameter', 'modle'],
  ['an unknown __proto__', JSON.parse('{"model":"abc","__proto__":1}'), 'unknown_parameter', '__proto__'],
  ['a short string', { model: 'a' }, 'string_below_min_length', 'model'],
  ['a long string', { model: 'abcdef' }, 'string_above_max_length', 'model'],
  ['a small number', { model: 'abc', count: 0 }, 'integer_below_min_value', 'count'],
  ['a large number', { model: 'abc', count: 11 }, 'integer_above_max_value', 'count'],
  ['a number beyond 2^53', { model: 'abc', count: 1e300 }, 'integer_above_max_value', 'count'],
  ['a fraction', { model: 'abc', count: 1.5 }, 'invalid_type', 'count'],
  ['a short list', { model: 'abc', tags: [] }, 'array_below_min_length', 'tags'],
  ['a long list', { model: 'abc', tags: ['a', 'b', 'c'] }, 'array_above_max_length', 'tags'],
  ['a list of another length', { model: 'abc', exact: [1] }, 'array_below_min_length', 'exact'],
  ['a wrong element', { model: 'abc', tags: ['a', 1] }, 'invalid_type', 'tags[1]'],
  ['a wrong choice', { model: 'abc', purpose: 'x' }, 'invalid_value', 'purpose'],
  ['a wrong format', { model: 'abc', md5: 'zz' }, 'invalid_value', 'md5'],
  ['a wrong multiple', { model: 'abc', step: 7 }, 'invalid_value', 'step'],
  ['a long key of a map', { model: 'abc', metadata: { abcde: 'x' } }, 'invalid_value', 'metadata.abcde'],
  ['a wrong value of a map', { model: 'abc', metadata: { a: 1 } }, 'invalid_type', 'metadata.a'],
  ['a missing discriminator', { model: 'abc', tools: [{}] }, 'missing_required_parameter', 'tools[0].type'],
  ['an unknown discriminator', { model: 'abc', tools: [{ type: 'q' }] }, 'invalid_value', 'tools[0].type'],
  [
    'a field of a discriminated branch',
    { model: 'abc', tools: [{ type: 'shell', timeout_ms: 0 }] },
    'integer_below_min_value',
    'tools[0].timeout_ms',
  ],
  ['no branch of a union', { model: 'abc', input: 3 }, 'invalid_type', 'input'],
  ['a field deep in a union', { model: 'abc', input: [{ type: 'image', url: 3 }] }, 'invalid_type', 'input[0].url'],
  [
    'a missing field deep in a union',
    { model: 'abc', input: [{ type: 'text' }] },
    'missing_required_parameter',
    'input[0].text',
  ],
  [
    'an unknown field deep in a union',
    { model: 'abc', input: [{ type: 'text', text: 'a', b: 1 }] },
    'unknown_parameter',
    'input[0].b',
  ],
  ['a body that is a list', [], 'invalid_type', null],
  ['a body that is null', null, 'invalid_type', null],
]
for (const [name, input, code, param] of cases) {
  test(`${name} is refused as ${code} and names its place`, () => {
    const found = refused(Body, input)
    assert.deepEqual({ code: found.code, param: found.param }, { code, param })
    assert.doesNotMatch(found.message, /Invalid input|undefined|\.\.$/)
  })
}

test('a value that fits no branch of a union is told every type that would', () => {
  assert.equal(
    refused(Body, { model: 'abc', input: 3 }).message,
    "Invalid 'input': expected string or array, received number.",
  )
})

test('a rule of the contract keeps its own words, also about a field that is absent', () => {
  const Either = z.strictObject({ a: z.string().optional(), b: z.string().optional() }).refine(({ a, b }) => a ?? b, {
    message: 'Send a or b.',
    path: ['a'],
  })
  assert.deepEqual(refused(Either, {}), { code: 'invalid_value', param: 'a', message: "Invalid 'a': send a or b." })
})

test('what the caller wrote comes back to them bounded', () => {
  const { param, message } = refused(Body, { model: 'abc', ['x'.repeat(5_000)]: 1 })
  assert.equal(param?.length, 201)
  assert.ok(message.length < 300)
})

test('a path is written as people write it', () => {
  assert.equal(paramOf(['a', 'b', 0, 'c', 12]), 'a.b[0].c[12]')
  assert.equal(paramOf([0]), '[0]')
})

test('whatever arrives is accepted or refused with a fault, and nothing else', () => {
  const nearly = fc.record(
    {
      model: fc.oneof(fc.string(), fc.jsonValue()),
      input: fc.oneof(
        fc.jsonValue(),
        fc.array(fc.record({ type: fc.constantFrom('text', 'image', 'x'), text: fc.jsonValue() })),
      ),
      tools: fc.array(fc.record({ type: fc.constantFrom('shell', 'function', 3), timeout_ms: fc.jsonValue() })),
      metadata: fc.dictionary(fc.string(), fc.jsonValue()),
      tags: fc.jsonValue(),
      constructor: fc.jsonValue(),
    },
    { requiredKeys: [] },
  )
  fc.assert(
    fc.property(fc.oneof(nearly, fc.jsonValue({ maxDepth: 5 })), (input) => {
      try {
        validate(Body, input)
      } catch (error) {
        assert.ok(error instanceof Fault)
        assert.equal(error.status, 400)
        assert.ok(error.message.length < 2_500)
      }
    }),
    { numRuns: 2_000 },
  )
})
