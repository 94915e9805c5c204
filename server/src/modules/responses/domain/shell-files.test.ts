import type { StoredItem } from '@switchyard/contracts/responses/items.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { filesForShell, noteOfFile, withPlacedFiles } from './shell-files.ts'

const message = (...content: unknown[]) =>
  ({ type: 'message', id: 'msg_1', role: 'user', status: 'completed', content }) as unknown as StoredItem

const text = { type: 'input_text', text: 'Read this.' }
const inline = { type: 'input_file', filename: 'a.txt', file_data: 'data:text/plain;base64,aGVsbG8=' }
const bare = { type: 'input_file', file_data: 'aGVsbG8=' }
const stored = { type: 'input_file', file_id: 'file-1' }
const url = { type: 'input_file', file_url: 'https://example.com/a.pdf' }

test('files of a message are for the shell: by content with a name, or by id', () => {
  assert.deepEqual(filesForShell([message(text, inline, stored), message(bare, url)]), [
    { filename: 'a.txt', content: Buffer.from('hello') },
    { fileId: 'file-1' },
    { filename: 'file', content: Buffer.from('hello') },
  ])
})

test('content that is not base64 is refused', () => {
  const bad = message({ type: 'input_file', file_data: 'data:text/plain;base64,***' })
  assert.throws(() => filesForShell([bad]), { code: 'invalid_value', param: 'input' })
})

// S1-4.2-d
test('what is stored of a file is the name that it got and its size, and no byte of its content', () => {
  const answer = {
    type: 'function_call_output',
    id: 'fco_1',
    call_id: 'call_1',
    output: [bare],
  } as unknown as StoredItem
  const placed = [
    { filename: 'a-1.txt', bytes: 5 },
    { filename: 'rows.csv', bytes: 9 },
    { filename: 'file', bytes: 5 },
  ]
  const kept = withPlacedFiles([message(text, inline, url, stored), answer], placed) as unknown[]
  assert.deepEqual(kept, [
    message(text, { type: 'input_file', filename: 'a-1.txt', bytes: 5 }, url, {
      ...stored,
      filename: 'rows.csv',
      bytes: 9,
    }),
    { ...answer, output: [{ type: 'input_file', filename: 'file', bytes: 5 }] },
  ])
})

test('a model reads where a file lies in place of its content', () => {
  assert.deepEqual(noteOfFile({ type: 'input_file', filename: 'a.txt', bytes: 5 }), {
    type: 'input_text',
    text: "[The user's file a.txt is under /mnt/data of the shell.]",
  })
  assert.deepEqual(noteOfFile({ type: 'input_text', text: 'x' }), { type: 'input_text', text: 'x' })
})
