import assert from 'node:assert/strict'
import { test } from 'node:test'
import { relayedUsage, usageOf } from './usage.ts'

test('what a provider counted is kept as whole numbers of tokens', () => {
  const told = { prompt_tokens: 12.5, completion_tokens: 1e300, total_tokens: null, x_groq: 'kept' }
  assert.deepEqual(relayedUsage({ ...told, prompt_tokens_details: { cached_tokens: '3', audio_tokens: 0 } }), {
    prompt_tokens: 13,
    completion_tokens: 1_000_000_000,
    total_tokens: 0,
    x_groq: 'kept',
    prompt_tokens_details: { cached_tokens: 0, audio_tokens: 0 },
  })
  const plain = { prompt_tokens: 5, completion_tokens: 7, total_tokens: 12, prompt_tokens_details: null }
  assert.deepEqual(relayedUsage(plain), plain)
  const { input_tokens: input, output_tokens: output } = usageOf({ input: -1, output: Number.NaN })
  assert.deepEqual([input, output], [0, 0])
})
