import { refused, rowError, rowOk, type Expected, type HostileInput } from './hostile-input.ts'

/** By the clock, or where the process had to be ended for it. */
const slow = rowError(/took (longer than|more than) .* to check against the schema/)
const mismatch = (what: RegExp) => rowError(new RegExp(`^Row \\d+: item.*${what.source}`))
const unusable = (what: RegExp) => refused(new RegExp(`item_schema.*${what.source}`))
/** No deeper than any body. */
const tooDeep = refused(/The body is nested more than \d+ levels deep/)
const endless = mismatch(/refers to itself without end/)

/** Values are written as JSON; a function writes its own. */
type Written = [name: string, schema: unknown, item: unknown, expected: Expected]

const backtracking = `${'a'.repeat(40)}!`
const nestedText = (depth: number, open: string, close: string) => () => `${open.repeat(depth)}{}${close.repeat(depth)}`

/** Each definition refers twice to the next: 2^30 ways. */
function doubling(keyword: string, last: unknown) {
  const definitions = Array.from({ length: 30 }, (_, n) => {
    const next = { $ref: `#/$defs/d${n + 1}` }
    return [`d${n}`, { [keyword]: [next, next] }]
  })
  return { $defs: { ...Object.fromEntries(definitions), d30: last }, $ref: '#/$defs/d0' }
}

const regexBombs: Written[] = [
  ['(a+)+', { properties: { a: { pattern: '^(a+)+$' } } }, { a: backtracking }, slow],
  ['(a|a)*', { properties: { a: { pattern: '^(a|a)*$' } } }, { a: backtracking }, slow],
  ['(a|aa)+', { properties: { a: { pattern: '^(a|aa)+$' } } }, { a: 'a'.repeat(60) + '!' }, slow],
  ['(.*a){20}', { properties: { a: { pattern: '^(.*a){20}$' } } }, { a: backtracking }, slow],
  ['(\\w*)*', { properties: { a: { pattern: '^(\\w*)*$' } } }, { a: backtracking }, slow],
  ['([a-zA-Z]+)*', { properties: { a: { pattern: '^([a-zA-Z]+)*$' } } }, { a: backtracking }, slow],
  ['looking ahead', { properties: { a: { pattern: '^(?=(a+)+$)' } } }, { a: backtracking }, slow],
  ['looking behind', { properties: { a: { pattern: '(?<=^x(a+)+)!$' } } }, { a: backtracking }, slow],
  ['in the names of patterns', { patternProperties: { '^(a+)+$': {} } }, { [backtracking]: 1 }, slow],
  ['in the names of properties', { propertyNames: { pattern: '^(a+)+$' } }, { [backtracking]: 1 }, slow],
  ['a key like a pattern', { patternProperties: { '^(x+)+$': false } }, { a: 'x' }, rowOk],
  [
    'a long mail address',
    { properties: { a: { format: 'email' } } },
    { a: `${'a.'.repeat(50_000)}@` },
    mismatch(/email/),
  ],
  [
    'a long address',
    { properties: { a: { format: 'uri' } } },
    { a: `http://${'a'.repeat(100_000)}%` },
    mismatch(/uri/),
  ],
  ['a long host name', { properties: { a: { format: 'hostname' } } }, { a: 'a-'.repeat(50_000) }, mismatch(/hostname/)],
]

const schemaBombs: Written[] = [
  ['2^30 ways through anyOf', doubling('anyOf', { required: ['none'] }), {}, slow],
  ['2^30 ways through allOf', doubling('allOf', true), {}, slow],
  ['2^30 ways through oneOf', doubling('oneOf', true), {}, slow],
  ['a schema that is itself', { $ref: '#' }, {}, endless],
  ['a schema of all of itself', { allOf: [{ $ref: '#' }] }, {}, endless],
  [
    'two that refer to each other',
    { $defs: { a: { $ref: '#/$defs/b' }, b: { $ref: '#/$defs/a' } }, $ref: '#/$defs/a' },
    {},
    unusable(/refers to itself/),
  ],
  ['a dynamic reference to itself', { $dynamicAnchor: 'a', $dynamicRef: '#a' }, {}, endless],
  [
    'a recursive reference to itself',
    { $schema: 'https://json-schema.org/draft/2019-09/schema', $recursiveAnchor: true, $recursiveRef: '#' },
    {},
    endless,
  ],
  [
    'every pair of a long list',
    { properties: { a: { uniqueItems: true } } },
    { a: Array.from({ length: 60_000 }, (_, n) => ({ n })) },
    rowError(/^Row \d+: it has more than \d+ values/),
  ],
  [
    'every pair of a list of long texts',
    { properties: { a: { uniqueItems: true } } },
    { a: Array.from({ length: 9_000 }, (_, n) => ({ n: `${'x'.repeat(60)}${n}` })) },
    slow,
  ],
  ['50 levels', nestedText(60, '{"not":', '}'), {}, unusable(/levels deep/)],
  ['20,000 levels', nestedText(20_000, '{"not":', '}'), {}, tooDeep],
  ['20,000 levels of lists', nestedText(20_000, '{"allOf":[', ']}'), {}, tooDeep],
  ['300 KB', { description: 'x'.repeat(300_000) }, {}, unusable(/bytes|characters/)],
  ['an enum of 400 KB', { enum: Array.from({ length: 70_000 }, (_, n) => n) }, {}, unusable(/bytes|characters/)],
  [
    'an enum of 200 KB',
    { properties: { a: { enum: Array.from({ length: 30_000 }, (_, n) => n) } } },
    { a: -1 },
    mismatch(/allowed values/),
  ],
  ['1,000 properties', { properties: named(1_000, { type: 'string' }) }, { p999: 1 }, mismatch(/p999 must be string/)],
  [
    '8,000 properties',
    { properties: named(8_000, { type: 'string' }) },
    {},
    unusable(/takes (longer|more) than|too wide/),
  ],
  [
    '5,000 definitions',
    { $defs: named(5_000, { type: 'string' }), properties: { a: { $ref: '#/$defs/p7' } } },
    { a: 1 },
    mismatch(/a must be string/),
  ],
  ['a length past every text', { properties: { a: { minLength: 1e15 } } }, { a: 'x' }, mismatch(/fewer than/)],
]

function named(count: number, value: unknown): Record<string, unknown> {
  return Object.fromEntries(Array.from({ length: count }, (_, n) => [`p${n}`, value]))
}

const places: Written[] = [
  ['a reference over the network', { $ref: 'http://127.0.0.1:9/a.json' }, {}, unusable(/is not in the schema/)],
  [
    'a reference to cloud metadata',
    { $ref: 'http://169.254.169.254/latest/meta-data/' },
    {},
    unusable(/is not in the schema/),
  ],
  [
    'a reference to a file',
    { properties: { a: { $ref: 'file:///etc/passwd' } } },
    {},
    unusable(/is not in the schema/),
  ],
  ['a reference to nowhere', { $ref: '#/$defs/none' }, {}, unusable(/is not in the schema/)],
  // Read as a schema without rules; nothing is reached through it.
  ['a reference to a prototype', { $ref: '#/__proto__/constructor' }, {}, rowOk],
  [
    'the name of a draft as its own',
    { $id: 'https://json-schema.org/draft/2020-12/schema' },
    {},
    unusable(/already exists/),
  ],
  ['an unknown dialect', { $schema: 'https://example.com/mine' }, {}, unusable(/is not a dialect/)],
  [
    'draft 4 with what only it has',
    { $schema: 'http://json-schema.org/draft-04/schema#', minimum: 1, exclusiveMinimum: true },
    {},
    unusable(/exclusiveMinimum/),
  ],
  ['$async', { $async: true }, {}, unusable(/async/)],
  ['$data', { properties: { a: { maximum: { $data: '1/b' } } } }, {}, unusable(/maximum must be number/)],
]

const wrong: Written[] = [
  ['a list for a schema', [], {}, refused(/item_schema/)],
  ['a text for a schema', 'object', {}, refused(/item_schema/)],
  ['null for a schema', null, {}, refused(/item_schema/)],
  ['true for a schema', true, {}, refused(/item_schema/)],
  ['a type that does not exist', { type: 'text' }, {}, unusable(/type must/)],
  ['a pattern that is none', { properties: { a: { pattern: '(' } } }, {}, unusable(/regular expression/)],
  ['properties that are a list', { properties: [] }, {}, unusable(/properties must be object/)],
  ['required that is a text', { required: 'a' }, {}, unusable(/required must be array/)],
  ['a negative length', { minLength: -1 }, {}, unusable(/minLength must be >= 0/)],
  ['a step of 0', { multipleOf: 0 }, {}, unusable(/multipleOf must be > 0/)],
  [
    'code for a name',
    { properties: { '"]);process.exit(1);//': { type: 'string' } } },
    { '"]);process.exit(1);//': 1 },
    mismatch(/must be string/),
  ],
  ['code for a format', { properties: { a: { format: '`${process.exit(1)}`' } } }, { a: 'x' }, rowOk],
  ['code for a reference', { $ref: '#/$defs/";process.exit(1);"' }, {}, unusable(/is not in the schema/)],
  ['a format that objects inherit', { properties: { a: { format: 'constructor' } } }, { a: 'x' }, rowOk],
  ['a format __proto__', { properties: { a: { format: '__proto__' } } }, { a: 'x' }, rowOk],
  ['a required key that objects inherit', { required: ['toString'] }, {}, mismatch(/required property 'toString'/)],
  ['a property that objects inherit', { properties: { constructor: { type: 'string' } } }, {}, rowOk],
  ['keywords nobody knows', { colour: 'red', 'x-order': 1, id: 'a' }, { a: 1 }, rowOk],
  [
    'control characters in a key',
    { additionalProperties: false },
    { '\u0000\n\ud800': 1 },
    refused(/data_source\.source\.content\[1\]\.item.*cannot be stored/),
  ],
  ['nothing is allowed', { not: {} }, {}, mismatch(/NOT be valid/)],
]

const textOf = (value: unknown): (() => string) =>
  typeof value === 'function' ? (value as () => string) : () => JSON.stringify(value)

export const hostileSchemas: readonly HostileInput[] = [...regexBombs, ...schemaBombs, ...places, ...wrong].map(
  ([name, schema, item, expected]) => ({
    name: `schema: ${name}`,
    kind: 'schema',
    schema: textOf(schema),
    item: textOf(item),
    ...expected,
  }),
)
