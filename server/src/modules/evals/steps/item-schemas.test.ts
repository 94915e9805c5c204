import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { ItemSchemas, type ItemSchemaSettings } from './item-schemas.ts'

const QUICK = { itemMs: 100, compileMs: 1_000, heapMb: 32 }

function itemSchemas(t: TestContext, settings: ItemSchemaSettings = {}): ItemSchemas {
  const schemas = new ItemSchemas({ ...QUICK, ...settings })
  t.after(() => schemas.part.stop?.())
  return schemas
}

const ticket = {
  type: 'object',
  properties: { ticket_text: { type: 'string' }, correct_label: { type: 'string' } },
  required: ['ticket_text', 'correct_label'],
}

// S1-2.8-e S1-2.8-ak
test('every item is checked against the schema of its eval, and one that does not match says where', async (t) => {
  const schemas = itemSchemas(t)
  assert.equal(await schemas.refusal(ticket), null)
  assert.deepEqual(
    await schemas.check(ticket, [
      { ticket_text: 'My monitor is dark', correct_label: 'Hardware' },
      { ticket_text: 'My monitor is dark', correct_label: 3 },
      { ticket_text: 'My monitor is dark' },
      'a string',
    ]),
    [
      null,
      'item.correct_label must be string',
      "item must have required property 'correct_label'",
      'item must be object',
    ],
  )
})

/** `{}` nested so often under a keyword. */
function nested(depth: number, wrap: (inner: unknown) => Record<string, unknown>): Record<string, unknown> {
  let schema: Record<string, unknown> = {}
  for (let level = 0; level < depth; level += 1) schema = wrap(schema)
  return schema
}

/** Each definition refers twice to the next: 2^30 ways to fail. */
const doubling = (keyword: string, last: unknown) => ({
  $defs: {
    ...Object.fromEntries(
      Array.from({ length: 30 }, (_, n) => {
        const next = { $ref: `#/$defs/d${n + 1}` }
        return [`d${n}`, { [keyword]: [next, next] }]
      }),
    ),
    d30: last,
  },
  $ref: '#/$defs/d0',
})

const refusedSchemas: [name: string, schema: unknown, reason: RegExp][] = [
  ['a list', [], /not a JSON object/],
  ['null', null, /not a JSON object/],
  ['a schema that refers to itself as an object', cyclic(), /nested too deeply/],
  ['nesting past the stack', nested(20_000, (not) => ({ not })), /nested too deeply/],
  ['nesting of 300 levels', nested(300, (not) => ({ not })), /nested deeper than 200 levels/],
  ['300 levels of allOf', nested(300, (one) => ({ allOf: [one] })), /nested deeper than 200 levels/],
  ['an enum of 400,000 characters', { enum: Array.from({ length: 80_000 }, (_, n) => n) }, /longer than 262144 char/],
  ['a $ref over the network', { $ref: 'http://127.0.0.1:9/schema.json' }, /\$ref ".*" is not in the schema/],
  ['a $ref to a file', { $ref: 'file:///etc/passwd' }, /is not in the schema/],
  ['a $ref to nowhere', { properties: { a: { $ref: '#/$defs/none' } } }, /is not in the schema/],
  ['a $ref that is no address', { $ref: 'http://[' }, /./],
  ['$async', { $async: true, type: 'object' }, /"\$async" is not supported/],
  ['$async further in', { $defs: { a: { $async: true } }, $ref: '#/$defs/a' }, /async/],
  ['$data', { properties: { a: { maximum: { $data: '1/b' } } } }, /schema\.properties\.a\.maximum must be number/],
  ['an unknown dialect', { $schema: 'https://example.com/mine' }, /is not a dialect/],
  ['a dialect named as a property every object has', { $schema: 'constructor' }, /is not a dialect/],
  ['a dialect that is a number', { $schema: 7 }, /is not a dialect/],
  [
    'what only draft 4 allows',
    { $schema: 'http://json-schema.org/draft-04/schema#', minimum: 1, exclusiveMinimum: true },
    /exclusiveMinimum must be number/,
  ],
  ['a type that does not exist', { type: 'text' }, /schema\.type must/],
  ['a pattern that is no expression', { pattern: '(' }, /Invalid regular expression/],
  ['an $id that stands for a draft', { $id: 'https://json-schema.org/draft/2020-12/schema' }, /already exists/],
  ['one anchor twice', { allOf: [{ $anchor: 'a' }, { $anchor: 'a', type: 'string' }] }, /more than one schema/],
  ['a step of 0', { multipleOf: 0 }, /multipleOf must be > 0/],
  ['control characters and half characters', { type: '\u0000\ud800' }, /schema\.type must/],
]

function cyclic(): unknown {
  const schema: Record<string, unknown> = {}
  schema['not'] = schema
  return schema
}

test('a schema that cannot be used is refused with its reason', async (t) => {
  const schemas = itemSchemas(t)
  for (const [name, schema, reason] of refusedSchemas) {
    const refusal = await schemas.refusal(schema)
    assert.match(refusal ?? 'not refused', reason, name)
    assert.notEqual(refusal, null, name)
    assert.ok((refusal ?? '').length <= 500, name)
  }
  const [item] = await schemas.check({ type: 'text' }, [{}])
  assert.match(item ?? '', /^item was not checked: the item schema cannot be used: schema\.type must/)
})

const text = (size: number) => `${'a'.repeat(size)}!`
const wide = (size: number) => Array.from({ length: size }, (_, n) => ({ n }))
const deepItem = (depth: number) => JSON.parse(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`) as unknown
const ownProto = (value: unknown) => JSON.parse(`{"__proto__":${JSON.stringify(value)}}`) as unknown
const endless = { $ref: '#' }

const hostileItems: [name: string, schema: Record<string, unknown>, item: unknown, reason: RegExp | null][] = [
  ['a pattern that backtracks', { pattern: '^(a+)+$' }, text(40), /took longer than 100 ms/],
  ['a key pattern that backtracks', { patternProperties: { '^(a|a)*$': {} } }, { [text(40)]: 1 }, /took longer/],
  ['a name pattern that backtracks', { propertyNames: { pattern: '^(\\w*)*$' } }, { [text(40)]: 1 }, /took longer/],
  ['a very long mail address', { format: 'email' }, `${'a.'.repeat(100_000)}@`, /must match format "email"/],
  ['a very long address', { format: 'uri' }, `http://${'a'.repeat(200_000)}%`, /must match format "uri"/],
  ['a format named as a property every object has', { format: 'constructor' }, 'x', null],
  ['a format named __proto__', { format: '__proto__' }, 'x', null],
  ['a pattern of huge counts', { pattern: '((a{1,65535}){1,65535}){1,65535}' }, 'a', null],
  ['a format nobody knows', { format: 'colour' }, 'x', null],
  ['2^30 ways to fail', doubling('anyOf', { type: 'string' }), 1, /took longer|MB of memory/],
  ['2^30 ways to fit', doubling('allOf', true), 1, /took longer|MB of memory/],
  ['2^30 ways through oneOf', doubling('oneOf', true), 1, /took longer|MB of memory/],
  ['a schema that only refers to itself', endless, 1, /refers to itself without end|took longer/],
  ['a dynamic reference without end', { $dynamicAnchor: 'a', $dynamicRef: '#a' }, 1, /without end|took longer/],
  [
    'a recursive reference without end',
    { $schema: 'https://json-schema.org/draft/2019-09/schema', $recursiveAnchor: true, $recursiveRef: '#' },
    1,
    /without end|took longer/,
  ],
  ['comparing every pair of a long list', { uniqueItems: true }, wide(30_000), /took longer|MB of memory/],
  ['an item of 10,000 levels', { properties: { a: endless } }, deepItem(10_000), /nested too deeply/],
  ['an item of 3,000 levels and a schema that does not look', {}, deepItem(3_000), null],
  ['more objects than fit into memory', {}, { a: Array.from({ length: 1_500_000 }, () => []) }, /32 MB of memory/],
  ['a string of 17 million characters', {}, 'a'.repeat(17 * 1024 * 1024), /longer than 16777216 characters/],
  ['a number past JSON', {}, 1n, /not JSON/],
  ['nothing at all', {}, undefined, /not JSON/],
  ['a key __proto__', { required: ['__proto__'] }, ownProto({ a: 1 }), null],
  ['an inherited key', { required: ['toString'] }, {}, /required property 'toString'/],
  ['a schema of an inherited key', { properties: { constructor: { type: 'string' } } }, {}, null],
  ['a key that only a prototype has', { required: ['a'] }, ownProto({ a: 1 }), /required property 'a'/],
  ['keys the comparison calls', { const: { valueOf: 1 } }, { valueOf: 1 }, /could not be checked/],
  ['a long enum', { enum: Array.from({ length: 20_000 }, (_, n) => `v${n}`) }, 'none', /allowed values/],
  ['$data as a constant', { const: { $data: '/a' } }, { $data: '/a' }, null],
  ['half a character and control characters', { additionalProperties: false }, { '\ud800\u0000\n': 1 }, /additional/],
]

// On a starved machine a limit of time may come before the one of memory, or before a stack is full: each is a reason.
test('what a schema or an item does ends as the reason of that item alone', async (t) => {
  const schemas = itemSchemas(t)
  for (const [name, schema, item, reason] of hostileItems) {
    const [first] = await schemas.check(schema, [item])
    if (reason === null) assert.equal(first, null, name)
    else assert.match(first ?? 'no reason', reason, name)
    assert.ok((first ?? '').length <= 500 && (first ?? '').isWellFormed(), name)
    assert.doesNotMatch(first ?? '', /\p{Cc}/u, name)
    assert.deepEqual(await schemas.check(ticket, [{ ticket_text: 'a', correct_label: 'b' }, {}]), [
      null,
      "item must have required property 'ticket_text'",
    ])
  }
})

test('an item that takes too long or too much memory is blamed alone, wherever it stands among others', async (t) => {
  const schemas = itemSchemas(t)
  const items: unknown[] = Array.from({ length: 300 }, (_, n) => (n % 7 === 0 ? 'b' : 'a'))
  items[120] = text(40)
  items[250] = Array.from({ length: 1_500_000 }, () => [])
  const reasons = await schemas.check({ pattern: '^(a+)+$' }, items)
  const expected: (string | null)[] = items.map((item) => (item === 'b' ? 'item must match pattern "^(a+)+$"' : null))
  expected[120] = 'item took longer than 100 ms to check against the schema'
  expected[250] = 'item took more than 32 MB of memory or too long to check against the schema'
  assert.deepEqual(reasons, expected)
})

test('a hundred thousand items that each take too long are not waited for', async (t) => {
  const schemas = itemSchemas(t)
  const items = Array.from({ length: 500 }, () => text(40))
  const began = performance.now()
  for (let batch = 0; batch < 200; batch += 1) {
    const reasons = await schemas.check({ pattern: '^(a+)+$' }, items)
    assert.ok(reasons.every((reason) => /took longer than 100 ms/.test(reason ?? '')))
  }
  assert.ok(performance.now() - began < 60_000)
})

test('good items between bad ones do not make the wait endless', async (t) => {
  const schemas = itemSchemas(t, { overdrawnMsMax: 1_000 })
  const items = Array.from({ length: 2_000 }, (_, n) => (n % 2 === 0 ? 'a' : text(40)))
  const reasons = await schemas.check({ pattern: '^(a+)+$' }, items)
  assert.deepEqual(reasons.slice(0, 2), [null, 'item took longer than 100 ms to check against the schema'])
  assert.equal(reasons.at(-1), 'item was not checked: items before it took too long to check against the schema')
})

test('who waits behind the slow items of others is not taken for slow', async (t) => {
  const schemas = itemSchemas(t, { processesMax: 1, overdrawnMsMax: 250 })
  const slow = ['a', 'b', 'c', 'd'].map((letter) =>
    schemas.check({ properties: { a: { pattern: `^(${letter}+)+$` } } }, [{ a: `${letter.repeat(40)}!` }]),
  )
  assert.deepEqual(await schemas.check({ type: 'object' }, [{}]), [null])
  await Promise.all(slow)
  assert.deepEqual(await schemas.check({ type: 'object' }, [{}]), [null])
})

test('a schema that was set aside is tried again after a while', async (t) => {
  const schemas = itemSchemas(t, { asideMs: 200 })
  const schema = { pattern: '^(a+)+$' }
  await schemas.check(schema, [text(40), text(40), text(40)])
  const until = performance.now() + 10_000
  let reasons: (string | null)[]
  do {
    reasons = await schemas.check(schema, ['a', 'b'])
  } while (reasons[0] !== null && performance.now() < until)
  assert.deepEqual(reasons, [null, 'item must match pattern "^(a+)+$"'])
})

test('schemas know nothing of each other, however they are named', async (t) => {
  const schemas = itemSchemas(t, { processesMax: 1 })
  const named = {
    $id: 'https://example.com/secret',
    $defs: { a: { $id: 'https://example.com/inner', const: 's3cret' } },
  }
  assert.equal(await schemas.refusal(named), null)
  assert.match((await schemas.refusal({ $ref: 'https://example.com/secret' })) ?? '', /is not in the schema/)
  assert.match((await schemas.refusal({ $ref: 'https://example.com/inner' })) ?? '', /is not in the schema/)
  assert.equal(await schemas.refusal({ ...named, type: 'object' }), null)
})

test('items are neither changed nor completed', async (t) => {
  const schemas = itemSchemas(t)
  const item = { n: '5', extra: true }
  const schema = { properties: { n: { type: 'number' }, missing: { default: 1 } }, additionalProperties: false }
  assert.deepEqual(await schemas.check({ ...schema, type: 'object' }, [item]), [
    'item must NOT have additional properties ("extra")',
  ])
  assert.deepEqual(await schemas.check({ properties: schema.properties }, [item]), ['item.n must be number'])
  assert.deepEqual(item, { n: '5', extra: true })
})

test('more schemas than are kept compiled are all checked rightly', async (t) => {
  const schemas = itemSchemas(t, { processesMax: 1 })
  for (let round = 0; round < 2; round += 1) {
    for (let n = 0; n < 40; n += 1) assert.deepEqual(await schemas.check({ const: n }, [n]), [null])
  }
  const [reason] = await schemas.check({ const: 7 }, [8])
  assert.equal(reason, 'item must be equal to constant (7)')
})

test('callers share the processes, and none waits for the whole of another', async (t) => {
  const schemas = itemSchemas(t, { processesMax: 1 })
  const many = Array.from({ length: 20 }, () => Array.from({ length: 2_000 }, (_, n) => ({ n })))
  const ended: string[] = []
  await schemas.refusal(ticket)
  const long = Promise.all(many.map((items) => schemas.check({ type: 'object' }, items))).then(() => ended.push('long'))
  const short = schemas.check(ticket, [{}]).then(() => ended.push('short'))
  await Promise.all([long, short])
  assert.deepEqual(ended, ['short', 'long'])
})

test('after the end nothing is checked any more, and who waits is told', async () => {
  const schemas = new ItemSchemas({ ...QUICK, processesMax: 1 })
  const slow = schemas.check({ pattern: '^(a+)+$' }, [text(40)])
  const waiting = schemas.check(ticket, [{}])
  const told = assert.rejects(waiting, /no longer checked/)
  const cut = assert.rejects(slow)
  await schemas.part.stop?.()
  await Promise.all([told, cut])
  await assert.rejects(schemas.refusal(ticket), /no longer checked/)
})
