import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkLine, type LinesSeen } from './check-line.ts'

const models: Record<string, string> = { house: 'house-1', 'house-1': 'house-1', other: 'other-1' }
const use = {
  endpoint: '/v1/responses',
  findModel: (name: string) => (models[name] === undefined ? null : { id: models[name] }),
} as const
const fresh = (): LinesSeen => ({ customIds: new Set(), model: null })
const good = { custom_id: 'a', method: 'POST', url: '/v1/responses', body: { model: 'house', input: 'Hi.' } }
const raw = (line: unknown, n = 1) => {
  const content = Buffer.from(typeof line === 'string' ? line : JSON.stringify(line))
  return { n, offset: 0, bytes: content.length, content }
}

test('a line in order gives its name, its body and the snapshot of its model', () => {
  assert.deepEqual(checkLine(use, fresh(), raw(good)), { customId: 'a', body: good.body, model: 'house-1' })
})

test('a batch is for one model, under any of its names', () => {
  const seen = fresh()
  checkLine(use, seen, raw(good))
  const alias = { ...good, custom_id: 'b', body: { model: 'house-1' } }
  assert.ok('customId' in checkLine(use, seen, raw(alias)))
  const other = checkLine(use, seen, raw({ ...good, custom_id: 'c', body: { model: 'other' } }, 3))
  assert.deepEqual('code' in other && [other.code, other.param, other.line], ['mismatched_model', 'body.model', 3])
})

test('two lines with the same custom_id are told at the second', () => {
  const seen = fresh()
  checkLine(use, seen, raw(good))
  const second = checkLine(use, seen, raw(good, 2))
  assert.deepEqual('code' in second && [second.code, second.line], ['duplicate_custom_id', 2])
})

const wrong: [string, unknown, string, string | null][] = [
  ['no JSON', '{"custom_id"', 'invalid_json_line', null],
  ['no object', '[1]', 'invalid_json_line', null],
  ['no name', { ...good, custom_id: undefined }, 'missing_required_parameter', 'custom_id'],
  ['a name that cannot be kept', { ...good, custom_id: 'a\u0000' }, 'invalid_custom_id', 'custom_id'],
  ['another method', { ...good, method: 'GET' }, 'invalid_method', 'method'],
  ['another endpoint', { ...good, url: '/v1/completions' }, 'invalid_url', 'url'],
  ['no body', { ...good, body: 'text' }, 'missing_required_parameter', 'body'],
  ['a stream', { ...good, body: { ...good.body, stream: true } }, 'unsupported_value', 'body.stream'],
  ['background', { ...good, body: { ...good.body, background: true } }, 'unsupported_value', 'body.background'],
  [
    'a conversation',
    { ...good, body: { ...good.body, conversation: 'conv_1' } },
    'unsupported_value',
    'body.conversation',
  ],
  ['no model', { ...good, body: {} }, 'missing_required_parameter', 'body.model'],
  ['an unknown model', { ...good, body: { model: 'x' } }, 'model_not_found', 'body.model'],
]
for (const [what, line, code, param] of wrong) {
  test(`a line with ${what} is refused by name`, () => {
    const found = checkLine(use, fresh(), raw(line, 7))
    assert.ok('code' in found)
    assert.deepEqual([found.code, found.param, found.line], [code, param, 7])
  })
}

test('a line beyond the bound is refused without being read', () => {
  const found = checkLine(use, fresh(), { n: 2, offset: 0, bytes: 9e9, content: null })
  assert.equal('code' in found && found.code, 'line_too_long')
})
