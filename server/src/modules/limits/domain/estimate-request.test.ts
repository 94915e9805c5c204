import fc from 'fast-check'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { estimateRequest } from './estimate-request.ts'

const chars = (count: number) => 'x'.repeat(count)
const tokens = (body: unknown) => estimateRequest(body).tokens

// S3-8.7
test('a request is charged the larger of its token maximum and its characters over four', () => {
  for (const name of ['max_output_tokens', 'max_tokens', 'max_completion_tokens']) {
    assert.equal(tokens({ input: chars(400), [name]: 99 }), 100)
    assert.equal(tokens({ input: chars(400), [name]: 101 }), 101)
  }
  assert.equal(tokens({ input: chars(401) }), 101, 'a token that is begun counts')
  assert.equal(tokens({ input: '' }), 1, 'a request is never free')
  assert.equal(tokens({ max_output_tokens: null, max_tokens: 50 }), 50)
})

test('everything that a model reads counts, and what it does not read does not', () => {
  const message = { role: 'user', content: [{ type: 'input_text', text: chars(36) }] }
  assert.equal(tokens({ input: [message] }), 10)
  assert.equal(tokens({ messages: [{ role: 'user', content: chars(36) }] }), 10)
  assert.equal(tokens({ input: chars(36), instructions: chars(4) }), 10)
  const tool = { type: 'function', name: 'abcd', description: chars(36), parameters: { type: 'object' } }
  assert.equal(tokens({ tools: [tool] }), 10)
  const unread = { metadata: { a: chars(400) }, user: chars(400), safety_identifier: chars(400), model: chars(400) }
  assert.equal(tokens({ input: chars(40), ...unread }), 10)
})

// S3-8.9-b
test('a list of prompts is as many prompts, each with the token maximum of its own, and choices multiply it', () => {
  assert.equal(tokens({ prompt: [chars(40), chars(40)] }), 20)
  assert.equal(tokens({ prompt: [chars(40), chars(40)], max_tokens: 100 }), 200)
  assert.equal(tokens({ prompt: chars(40), max_tokens: 100, n: 3 }), 300)
  assert.equal(tokens({ prompt: ['a', 'b'], max_tokens: 100, n: 3 }), 600)
})

test('an image or a file counts as 1,024 tokens, however large it is', () => {
  for (const part of [
    { type: 'input_image', image_url: `data:image/png;base64,${chars(1_000_000)}` },
    { type: 'image_url', image_url: { url: `data:image/png;base64,${chars(1_000_000)}` } },
    { type: 'input_file', file_data: chars(1_000_000) },
    { type: 'input_file', file_id: undefined, file_data: chars(8) },
  ]) {
    assert.equal(tokens({ input: [{ content: [part] }] }), 1_024)
  }
  const image = { type: 'input_image', image_url: 'https://example.com/a.png' }
  assert.equal(tokens({ input: [{ content: [image, image, { type: 'input_text', text: chars(40) }] }] }), 2_058)
})

test('whatever is sent has an estimate, and a longer text never a smaller one', () => {
  const anything = fc.property(fc.anything(), (body) => {
    const { tokens: charged, inputTokens, outputMax } = estimateRequest(body)
    assert.ok(Number.isSafeInteger(charged) && charged >= 1)
    assert.equal(charged, Math.max(outputMax ?? 0, inputTokens, 1))
  })
  fc.assert(anything)
  const longer = fc.property(fc.string(), fc.string(), fc.nat(1_000), (text, more, max_tokens) => {
    assert.ok(tokens({ prompt: text + more, max_tokens }) >= tokens({ prompt: text, max_tokens }))
  })
  fc.assert(longer)
})
