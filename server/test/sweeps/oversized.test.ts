import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { MultipartBody, Operation } from '@switchyard/contracts/operation.ts'
import { exampleOf, sweptOperations } from './examples.ts'
import { ownPlace } from './place.ts'
import { sendRaw, type RawBody } from './raw-request.ts'
import { snapshot, untouched } from './snapshot.ts'
import { sweepApp } from './sweep-app.ts'

const jsonBytesMax = 64 * 1024
const hugeBytes = String(100 * 1024 ** 3)
const chunk = Buffer.alloc(64 * 1024, 0x20)
const boundary = 'a-boundary'

function* repeated(head: string, bytes: number): Generator<Uint8Array> {
  yield Buffer.from(head)
  for (let left = bytes; left > 0; left -= chunk.length) yield left < chunk.length ? chunk.subarray(0, left) : chunk
}

const multipartOf = (operation: Operation): MultipartBody | null =>
  operation.body !== undefined && 'kind' in operation.body ? operation.body : null

const typeOf = (operation: Operation) =>
  multipartOf(operation) === null ? 'application/json' : `multipart/form-data; boundary=${boundary}`

function announced(operation: Operation, bytes: string): RawBody {
  return { headers: { 'content-type': typeOf(operation), 'content-length': bytes }, chunks: [Buffer.from('{')] }
}

/** In chunks, so that only counting what arrives can tell. */
function endless(operation: Operation): RawBody {
  const headers = { 'content-type': typeOf(operation), 'transfer-encoding': 'chunked' }
  const multipart = multipartOf(operation)
  if (multipart === null) return { headers, chunks: repeated('{', jsonBytesMax + 1) }
  const part = `content-disposition: form-data; name="${multipart.file.name}"; filename="f"`
  return { headers, chunks: repeated(`--${boundary}\r\n${part}\r\n\r\n`, multipart.file.bytesMax + 1) }
}

test('a body larger than an operation takes is refused with 413, announced or not', async (t) => {
  const app = await sweepApp(t, { SWITCHYARD_HTTP_BODY_BYTES_MAX: String(jsonBytesMax) })
  const place = ownPlace(app)
  for (const operation of sweptOperations()) {
    await t.test(operation.id, async () => {
      const example = await exampleOf(operation, place)
      const before = await snapshot(app)
      const multipart = multipartOf(operation)
      const code = multipart === null ? 'request_too_large' : 'file_too_large'
      const tooMuch = String((multipart?.file.bytesMax ?? jsonBytesMax) * 2)
      for (const body of [announced(operation, tooMuch), announced(operation, hugeBytes), endless(operation)]) {
        const reply = await sendRaw(place, operation, example, body)
        assert.deepEqual([reply.status, reply.error?.code], [413, code], reply.text)
        assert.match(String(reply.headers['x-request-id']), /^req_/)
      }
      assert.deepEqual(
        untouched(operation.id, await snapshot(app)),
        untouched(operation.id, before),
        'something was changed or left behind',
      )
    })
  }
})
