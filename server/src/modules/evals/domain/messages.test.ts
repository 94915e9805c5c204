import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EvalMessage, EvalPart } from '@switchyard/contracts/evals/messages.ts'
import { templatesOfMessages } from './check-templates.ts'
import { asChat, asInput, compileMessages, messagesRenderedMax, renderMessages } from './messages.ts'
import { renderedMax } from './template.ts'

const scope = { item: { id: 'file-1', url: 'https://a.example/a.pdf', data: 'JVBERg==', name: 'a.pdf' } }
const from = (...content: EvalPart[]): EvalMessage[] => [{ type: 'message', role: 'user', content }]
const sent = (part: EvalPart) => asInput(renderMessages(compileMessages(from(part)), scope))[0]?.content

test('every text of an image or a file is filled in by the row', () => {
  assert.deepEqual(sent({ type: 'input_image', file_id: '{{ item.id }}', detail: 'low' }), [
    { type: 'input_image', file_id: 'file-1', detail: 'low' },
  ])
  assert.deepEqual(sent({ type: 'input_file', file_url: '{{ item.url }}' }), [
    { type: 'input_file', file_url: scope.item.url },
  ])
  assert.deepEqual(sent({ type: 'input_file', file_id: '{{ item.id }}' }), [{ type: 'input_file', file_id: 'file-1' }])
  const file: EvalPart = { type: 'input_file', filename: '{{item.name}}', file_data: 'data:x;base64,{{item.data}}' }
  const filled = { filename: 'a.pdf', file_data: 'data:x;base64,JVBERg==' }
  assert.deepEqual(sent(file), [{ type: 'input_file', ...filled }])
  const chat = asChat(renderMessages(compileMessages(from(file)), scope))
  assert.deepEqual(chat, [{ role: 'user', content: [{ type: 'file', file: filled }] }])
})

test('a text without variables is sent as it is, however long', () => {
  const file_data = 'A'.repeat(renderedMax + 4)
  assert.deepEqual(sent({ type: 'input_file', file_data }), [{ type: 'input_file', file_data }])
})

test('the messages of a row are bounded together, however many there are', () => {
  const item = { data: 'A'.repeat(messagesRenderedMax / 8) }
  const copies = (count: number) => {
    const parts = Array.from({ length: count }, (): EvalPart => ({ type: 'input_text', text: '{{ item.data }}' }))
    return () => renderMessages(compileMessages(from(...parts)), { item })
  }
  assert.doesNotThrow(copies(8))
  assert.throws(copies(9), { code: 'template_error', message: /rendered messages are longer than 16777216/ })
})

test('every text of an image or a file is checked as a template', () => {
  const messages = from({ type: 'input_text', text: 'a' }, { type: 'input_file', filename: 'b', file_url: '{{ c }}' })
  assert.deepEqual(
    [...templatesOfMessages(messages, 'input')],
    [
      { text: 'a', param: 'input[0].content[0]' },
      { text: '{{ c }}', param: 'input[0].content[1]' },
      { text: 'b', param: 'input[0].content[1]' },
    ],
  )
})
