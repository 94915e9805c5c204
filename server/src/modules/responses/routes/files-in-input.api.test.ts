import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFile, deleteFile } from '@switchyard/contracts/files.ts'
import { responsesKit } from '../testing/responses-kit.ts'

const pixel = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const hello = Buffer.from('hello from a file').toString('base64')

test('pictures and files reach the model, sent along or kept here', async (t) => {
  const kit = await responsesKit(t)
  const { app } = kit
  const user = (...content: object[]) => [{ role: 'user', content }]

  async function upload(bytes: Buffer, name: string, key = app.project.key): Promise<string> {
    const form = new FormData()
    form.set('purpose', 'user_data')
    form.set('file', new Blob([new Uint8Array(bytes)]), name)
    const reply = await app.call(createFile, { body: form, key })
    assert.equal(reply.status, 200, reply.text)
    return reply.body.id
  }

  await t.test('as data, for every kind of provider', async () => {
    const image = { type: 'input_image', image_url: `data:image/png;base64,${pixel}`, detail: 'low' }
    const pdf = { type: 'input_file', filename: 'a.pdf', file_data: `data:application/pdf;base64,${hello}` }
    for (const model of ['double-chat', 'double-responses', 'double-anthropic']) {
      app.double.queue('Seen.')
      const { status } = await kit.create({ model, input: user(image, pdf) })
      const told = JSON.stringify(kit.told())
      assert.deepEqual([status, told.includes(pixel), told.includes(hello)], ['completed', true, true], model)
    }
  })

  await t.test('by the id of a stored file, in a message and in the answer of a tool', async () => {
    const image = { type: 'input_image', file_id: await upload(Buffer.from(pixel, 'base64'), 'dot.png') }
    const file = { type: 'input_file', file_id: await upload(Buffer.from(hello, 'base64'), 'a.pdf') }
    const { id } = await kit.create({ input: user(image, file) })
    const told = JSON.stringify(kit.told())
    assert.ok(told.includes(`data:image/png;base64,${pixel}`) && told.includes(hello))
    assert.doesNotMatch(told, /file_id/)
    await kit.create({ previous_response_id: id, input: 'Again?' })
    assert.ok(JSON.stringify(kit.told()).includes(hello))
    const call = { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{}' }
    const output = { type: 'function_call_output', call_id: 'call_1', output: [image] }
    await kit.create({ model: 'double-responses', input: [call, output] })
    assert.ok(JSON.stringify(kit.told()).includes(pixel))
  })

  await t.test('a file of another project is no file, and nothing is begun', async () => {
    const theirs = await upload(Buffer.from('x'), 'x.txt', app.other.key)
    const asked = app.double.requests.length
    for (const file_id of [theirs, 'file-none']) {
      for (const part of [
        { type: 'input_file', file_id },
        { type: 'input_image', file_id },
      ]) {
        assert.deepEqual(await kit.refusal({ input: user(part) }), [404, 'not_found', 'input'])
        assert.deepEqual(await kit.refusal({ input: user(part), background: true }), [404, 'not_found', 'input'])
      }
    }
    assert.equal(app.double.requests.length, asked)
  })

  await t.test('a file that was deleted since fails what still names it', async () => {
    const file_id = await upload(Buffer.from('x'), 'x.txt')
    const { id } = await kit.create({ input: user({ type: 'input_file', file_id }) })
    await app.call(deleteFile, { params: { file_id } })
    assert.deepEqual(await kit.refusal({ previous_response_id: id, input: 'And?' }), [404, 'not_found', 'input'])
    const streamed = await kit.ask({ previous_response_id: id, input: 'And?', stream: true })
    assert.equal(streamed.status, 404, streamed.text)
  })

  await t.test('a part that names nothing is refused', async () => {
    for (const part of [{ type: 'input_file' }, { type: 'input_image' }, { type: 'input_image', image_url: null }]) {
      assert.deepEqual(await kit.refusal({ input: user(part) }), [400, 'invalid_value', 'input[0].content[0]'])
    }
    const odd = { type: 'input_image', image_url: 'https://example.com/a.png', detail: 'huge' }
    assert.deepEqual(await kit.refusal({ input: user(odd) }), [400, 'invalid_value', 'input[0].content[0].detail'])
  })
})
