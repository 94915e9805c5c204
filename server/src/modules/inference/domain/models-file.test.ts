import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parse } from 'yaml'
import { Catalogue } from './catalogue.ts'
import { readModels } from './models-file.ts'

const house = `
models:
  - id: house-8b-2026-11-14
    aliases: [house-8b]
    provider: { kind: openai-compatible, wire: chat_completions, base_url: "http://127.0.0.1:8000/v1", api_key_env: PROVIDER_KEY }
    context_window: 128000
    max_output_tokens: 16384
    family: house
    price: { input_per_mtok: 0.1, cached_input_per_mtok: 0.01, output_per_mtok: 0.4 }
`
const variable = (name: string) => (name === 'PROVIDER_KEY' ? 'secret' : undefined)

test('a file gives models that are found by snapshot and by alias', () => {
  const { models, problems } = readModels(parse(house), variable)
  assert.deepEqual(problems, [])
  assert.deepEqual(models, [
    {
      id: 'house-8b-2026-11-14',
      aliases: ['house-8b'],
      createdAt: Date.parse('2026-11-14T00:00:00Z') / 1000,
      ownedBy: 'organization',
      provider: {
        kind: 'openai-compatible',
        wire: 'chat_completions',
        baseUrl: 'http://127.0.0.1:8000/v1',
        apiKey: 'secret',
        headers: {},
      },
      providerModel: 'house-8b-2026-11-14',
      contextWindow: 128_000,
      maxOutputTokens: 16_384,
      family: 'house',
      price: { inputPerMtok: 0.1, cachedInputPerMtok: 0.01, outputPerMtok: 0.4 },
      capabilities: { images: false, files: false, reasoning: false },
    },
  ])
  const catalogue = new Catalogue(models)
  assert.equal(catalogue.get('house-8b').id, 'house-8b-2026-11-14')
  assert.equal(catalogue.find('house-8b-2026-11-14'), models[0])
  assert.equal(catalogue.find('other'), null)
  assert.throws(() => catalogue.get('other'), { code: 'model_not_found', param: 'model' })
})

const spoilt: [string, (entry: Record<string, unknown>) => unknown, RegExp][] = [
  ['a key that is not set', (entry) => entry, /api_key_env: set the environment variable PROVIDER_KEY/],
  ['a field that nobody knows', (entry) => ({ ...entry, contextwindow: 1 }), /models\[0\]: .*contextwindow/],
  ['a missing bound', (entry) => ({ ...entry, context_window: undefined }), /models\[0\]\.context_window/],
  ['an address that is none', (entry) => withProvider(entry, { base_url: 'house' }), /base_url: must be an address/],
  ['a key in the address', (entry) => withProvider(entry, { base_url: 'http://u:p@host/v1' }), /keys belong in/],
  [
    'a wire that the kind does not speak',
    (entry) => withProvider(entry, { kind: 'anthropic' }),
    /anthropic speaks messages/,
  ],
  [
    'a key in place of its name',
    (entry) => withProvider(entry, { api_key_env: 'sk-1/2' }),
    /name of an environment variable/,
  ],
  ['an alias that is its own snapshot', (entry) => ({ ...entry, aliases: [entry['id']] }), /given twice/],
]

function withProvider(entry: Record<string, unknown>, more: object): unknown {
  return { ...entry, provider: { ...(entry['provider'] as object), ...more } }
}

for (const [what, spoil, says] of spoilt) {
  test(`${what} stops the start, and the message says what to do`, () => {
    const [entry] = (parse(house) as { models: [Record<string, unknown>] }).models
    const known = what === 'a key that is not set' ? () => undefined : variable
    const { problems } = readModels({ models: [spoil(entry)] }, known)
    assert.ok(
      problems.some((problem) => says.test(problem)),
      problems.join('\n'),
    )
    assert.doesNotMatch(problems.join('\n'), /sk-1/)
  })
}

test('a name that two models claim is refused', () => {
  const { models } = parse(house) as { models: [Record<string, unknown>] }
  const { problems } = readModels({ models: [...models, { ...models[0], id: 'other' }] }, variable)
  assert.deepEqual(problems, ['the name house-8b is given twice; ids and aliases must all differ'])
})

/** The catalogue of a file in which the alias `house` stands at one of the snapshots. */
function catalogueAt(snapshots: readonly string[], current: string): Catalogue {
  const [entry] = (parse(house) as { models: [Record<string, unknown>] }).models
  const content = snapshots.map((id) => ({ ...entry, id, aliases: id === current ? ['house'] : [] }))
  const { models, problems } = readModels({ models: content }, variable)
  assert.deepEqual(problems, [])
  return new Catalogue(models)
}

// S3-9.1-b S3-9.1-c
test('an alias is pointed at a newer snapshot, and the earlier one stays selectable by its dated name', () => {
  const snapshots = ['house-2026-01-01', 'house-2026-06-01']
  const before = catalogueAt(snapshots.slice(0, 1), 'house-2026-01-01')
  assert.equal(before.get('house').id, 'house-2026-01-01')
  const after = catalogueAt(snapshots, 'house-2026-06-01')
  assert.equal(after.get('house').id, 'house-2026-06-01')
  assert.equal(after.get('house-2026-01-01').id, 'house-2026-01-01')
})

// S3-9.2-b
test('a snapshot that was removed is a model that does not exist', () => {
  const after = catalogueAt(['house-2026-06-01'], 'house-2026-06-01')
  assert.throws(() => after.get('house-2026-01-01'), { code: 'model_not_found' })
})
