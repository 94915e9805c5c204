import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Operation } from '@switchyard/contracts/operation.ts'
import { exampleOf, sweptOperations } from './examples.ts'
import { ownPlace } from './place.ts'
import { sendRaw } from './raw-request.ts'
import { snapshot } from './snapshot.ts'
import { sweepApp } from './sweep-app.ts'

const notJson = ['{', '{"a":1,}', '{}{}', '\u0000', `${'['.repeat(70)}${']'.repeat(70)}`]
const notUtf8 = Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])
const otherTypes = ['text/plain', 'application/x-www-form-urlencoded', 'nothing']

const isMultipart = ({ body }: Operation) => body !== undefined && 'kind' in body

const bytes = (type: string, text: string | Buffer) => {
  const chunks = [Buffer.from(text)]
  return { headers: { 'content-type': type, 'content-length': String(chunks[0]?.length) }, chunks }
}

test('a body that is not JSON is refused as such', async (t) => {
  const place = ownPlace(await sweepApp(t))
  for (const operation of sweptOperations().filter((one) => !isMultipart(one))) {
    const example = await exampleOf(operation, place)
    const before = await snapshot(place.app)
    for (const text of [...notJson, notUtf8]) {
      const reply = await sendRaw(place, operation, example, bytes('application/json', text))
      assert.deepEqual([reply.status, reply.error?.code], [400, 'invalid_json'], `${operation.id} ${text.toString()}`)
    }
    assert.deepEqual(await snapshot(place.app), before, `${operation.id} changed something`)
  }
})

test('a body of a type that an operation does not read is refused with 415', async (t) => {
  const place = ownPlace(await sweepApp(t))
  for (const operation of sweptOperations()) {
    const example = await exampleOf(operation, place)
    const before = await snapshot(place.app)
    const wrong = isMultipart(operation) ? 'application/json' : 'multipart/form-data; boundary=b'
    // One of them also reads JSON, as its other form.
    const types = operation.id === 'containers.files.create' ? otherTypes : [...otherTypes, wrong]
    for (const type of types) {
      const reply = await sendRaw(place, operation, example, bytes(type, '{}'))
      const about = `${operation.id} ${type} ${reply.text}`
      assert.deepEqual([reply.status, reply.error?.code], [415, 'unsupported_media_type'], about)
    }
    assert.deepEqual(await snapshot(place.app), before, `${operation.id} changed something`)
  }
})
