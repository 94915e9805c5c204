import assert from 'node:assert/strict'
import { test } from 'node:test'
import { GivenMessage } from '@switchyard/contracts/evals/messages.ts'
import { Fault } from '#platform/errors/fault.ts'
import { checkMessages, type Sending } from './check-messages.ts'

const model = (images: boolean, files: boolean) => ({ id: 'm', capabilities: { images, files, reasoning: false } })
const all = model(true, true)
const chat: Sending = { model: all, chat: true, shell: false }
const responses: Sending = { model: all, chat: false, shell: false }

function refusal(sending: Sending, part: object, role = 'user'): string | null {
  try {
    checkMessages([GivenMessage.parse({ role, content: ['a', part] })], 'input', sending)
    return null
  } catch (error) {
    assert.ok(error instanceof Fault && error.code === 'unsupported_value', String(error))
    return `${error.param}: ${error.message}`
  }
}

const image = { type: 'input_image', image_url: 'https://a.example/a.png' }
const file = { type: 'input_file', file_data: '{{ item.pdf }}' }

test('images and files go only to models that read them', () => {
  for (const sending of [chat, responses]) {
    assert.equal(refusal(sending, image), null)
    assert.equal(refusal(sending, file), null)
    const blind = { ...sending, model: model(false, true) }
    assert.match(refusal(blind, image) ?? '', /^input\[0\]\.content\[1\]: .*m does not read images/)
    assert.equal(refusal(blind, file), null)
    const bookless = { ...sending, model: model(true, false) }
    assert.equal(refusal(bookless, image), null)
    assert.match(refusal(bookless, file) ?? '', /^input\[0\]\.content\[1\]: .*m does not read files/)
  }
})

test('files for a shell lie in its container, and no model reads them', () => {
  const shell = { ...responses, model: model(false, false), shell: true }
  assert.equal(refusal(shell, file), null)
  assert.equal(refusal(shell, { type: 'input_file', file_id: 'file-1' }), null)
  assert.match(refusal(shell, { type: 'input_file', file_url: 'https://a.example/a.pdf' }) ?? '', /does not read files/)
  assert.match(refusal(shell, image) ?? '', /does not read images/)
})

test('what a chat completion cannot say is refused by its place; a response says it', () => {
  const cases: [part: object, at: string, role?: string][] = [
    [{ type: 'input_image', file_id: 'file-1' }, '.file_id'],
    [{ ...image, file_id: 'file-1' }, '.file_id'],
    [{ ...image, detail: 'original' }, '.detail'],
    [{ type: 'input_file', file_id: 'file-1' }, '.file_id'],
    [{ type: 'input_file', file_url: 'https://a.example/a.pdf' }, '.file_url'],
    [{ ...file, detail: 'low' }, '.detail'],
    [{ type: 'input_file', bytes: 3 }, '.bytes'],
    ...['system', 'developer', 'assistant'].flatMap((role): [object, string, string][] => [
      [image, '', role],
      [file, '', role],
    ]),
  ]
  for (const [part, at, role] of cases) {
    const place = `input[0].content[1]${at}`
    assert.ok(refusal(chat, part, role)?.startsWith(`${place}: Invalid '${place}': a chat completion takes`), place)
    assert.equal(refusal(responses, part, role), null)
  }
  assert.equal(refusal(chat, { ...image, detail: 'high' }), null)
  assert.equal(refusal(chat, { ...file, filename: 'a.pdf' }), null)
})
