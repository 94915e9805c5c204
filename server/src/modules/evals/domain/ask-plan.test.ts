import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RunDataSource } from '@switchyard/contracts/evals/data-sources.ts'
import { planAsking } from './ask-plan.ts'

const source = { type: 'file_id', id: 'file-1' } as Extract<RunDataSource['source'], { type: 'file_id' }>
const input_messages = {
  type: 'template' as const,
  template: [
    {
      type: 'message' as const,
      role: 'developer' as const,
      content: { type: 'input_text' as const, text: 'Be brief.' },
    },
    {
      type: 'message' as const,
      role: 'user' as const,
      content: [
        { type: 'input_text' as const, text: 'What is {{item.what}}?' },
        { type: 'input_image' as const, image_url: '{{ item.url }}', detail: 'auto' as const },
      ],
    },
  ],
}
const scope = { item: { what: '{{ item.url }}', url: 'data:image/png;base64,AA' } }

test('a row asks /v1/responses with its own messages (S1-2.8-q, S1-4.6-g)', () => {
  const plan = planAsking({
    type: 'responses',
    model: 'm',
    source,
    input_messages,
    sampling_params: { temperature: 0.5, max_completion_tokens: 10, reasoning_effort: 'low' },
  })
  const { body, shown } = plan?.ask(scope) ?? {}
  assert.deepEqual(body, {
    model: 'm',
    temperature: 0.5,
    max_output_tokens: 10,
    reasoning: { effort: 'low' },
    input: [
      { type: 'message', role: 'developer', content: 'Be brief.' },
      {
        type: 'message',
        role: 'user',
        content: [
          // What an item holds is text, whatever it looks like.
          { type: 'input_text', text: 'What is {{ item.url }}?' },
          { type: 'input_image', image_url: 'data:image/png;base64,AA', detail: 'auto' },
        ],
      },
    ],
  })
  assert.deepEqual(shown?.[1], { role: 'user', content: 'What is {{ item.url }}?\n[input_image]' })
  assert.deepEqual(plan?.sampling, { temperature: 0.5, topP: null, seed: null, outputMax: 10 })
})

test('the same row asks /v1/chat/completions in its own form', () => {
  const plan = planAsking({
    type: 'completions',
    model: 'm',
    source,
    input_messages,
    sampling_params: { seed: 3, max_completion_tokens: 10 },
  })
  assert.deepEqual(plan?.ask(scope).body, {
    model: 'm',
    seed: 3,
    max_completion_tokens: 10,
    messages: [
      { role: 'developer', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is {{ item.url }}?' },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AA', detail: 'auto' } },
        ],
      },
    ],
  })
})

test('an item may hold the messages itself', () => {
  const plan = planAsking({
    type: 'completions',
    model: 'm',
    source,
    input_messages: { type: 'item_reference', item_reference: 'item.chat' },
    sampling_params: null,
  })
  const chat = [{ role: 'user', content: 'Hello' }]
  assert.deepEqual(plan?.ask({ item: { chat } }), { body: { model: 'm', messages: chat }, shown: chat })
  assert.deepEqual(plan?.ask({ item: { chat: 'Hello' } }).body['messages'], chat)
  assert.throws(() => plan?.ask({ item: { chat: {} } }), /neither a text nor a list/)
  assert.throws(() => plan?.ask({ item: {} }), /has no/)
})

test('rows that bring their samples ask nobody', () => {
  assert.equal(planAsking({ type: 'jsonl', source }), null)
  assert.equal(planAsking({ type: 'completions', source, sampling_params: null }), null)
})

test('a stored request is asked again as it was, with its instructions', () => {
  const plan = planAsking({ type: 'responses', model: 'm', source: { type: 'responses' }, sampling_params: null })
  const input = [{ role: 'user', content: 'Hello' }]
  assert.deepEqual(plan?.ask({ item: { input, instructions: 'Be brief.' } }).body, {
    model: 'm',
    instructions: 'Be brief.',
    input,
  })
})
