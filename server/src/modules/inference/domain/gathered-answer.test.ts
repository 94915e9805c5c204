import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { GatheredAnswer, type AnswerPiece } from './gathered-answer.ts'

const about = { id: 'chatcmpl-1', created: 1, model: 'm' }
const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 }

const gathered = (pieces: readonly AnswerPiece[]) => {
  const answer = new GatheredAnswer()
  for (const piece of pieces) answer.add(piece)
  return answer.completion(about, usage)
}

const texts = fc.array(fc.string(), { maxLength: 8 })

test('however an answer is cut into pieces, the same whole is gathered', () => {
  fc.assert(
    fc.property(texts, texts, fc.array(texts, { maxLength: 3 }), (said, thought, calls) => {
      const pieces: AnswerPiece[] = [
        { delta: { role: 'assistant', content: '', refusal: null } },
        ...thought.map((text) => ({ delta: { reasoning_content: text } })),
        ...said.map((text) => ({ delta: { content: text }, logprobs: { content: [{ token: text }], refusal: null } })),
        ...calls.flatMap((parts, index) => [
          { delta: { tool_calls: [{ index, id: `call_${index}`, function: { name: 'f', arguments: '' } }] } },
          ...parts.map((text) => ({ delta: { tool_calls: [{ index, function: { arguments: text } }] } })),
        ]),
        { delta: {}, finish_reason: 'stop' },
      ]
      const { choices, ...rest } = gathered(pieces)
      assert.deepEqual(rest, { ...about, object: 'chat.completion', usage })
      const content = said.join('')
      assert.deepEqual(choices, [
        {
          index: 0,
          finish_reason: 'stop',
          logprobs: said.length === 0 ? null : { content: said.map((token) => ({ token })), refusal: [] },
          message: {
            role: 'assistant',
            content: content === '' && calls.length > 0 ? null : content,
            refusal: null,
            ...(thought.length === 0 ? {} : { reasoning_content: thought.join('') }),
            ...(calls.length === 0
              ? {}
              : {
                  tool_calls: calls.map((parts, index) => ({
                    id: `call_${index}`,
                    type: 'function',
                    function: { name: 'f', arguments: parts.join('') },
                  })),
                }),
          },
        },
      ])
    }),
  )
})

test('a reason to stop that the contract does not have is told as stop', () => {
  assert.equal(gathered([{ delta: { content: 'x' }, finish_reason: 'eos' }]).choices[0]?.finish_reason, 'stop')
  assert.equal(gathered([{ delta: { refusal: 'No.' } }]).choices[0]?.message.content, null)
})
