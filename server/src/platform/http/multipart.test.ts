import fc from 'fast-check'
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { Fault } from '#platform/errors/fault.ts'
import { until } from './testing/poll.ts'
import { RawClient, request } from './testing/raw-client.ts'
import { key } from './testing/test-server.ts'
import { boundary, lastBoundary, part, uploadServer, type UploadServer } from './testing/upload.ts'

const type = `multipart/form-data; boundary=${boundary}`
const purpose = part('purpose', 'evals')
const file = (content: string | Buffer, filename = 'a.txt') => part('file', content, { filename, type: 'text/plain' })

interface Answer {
  status: number
  error: { code: string; param: string | null; message: string }
  fields: Record<string, unknown>
  file: { bytes: number; filename: string; sha256: string; mimeType: string }
}

async function send(app: UploadServer, body: Buffer | FormData, headers: Record<string, string> = {}): Promise<Answer> {
  const typed = body instanceof FormData ? {} : { 'content-type': type }
  const init = { method: 'POST', headers: { ...key, ...typed, ...headers }, body }
  const reply = await fetch(`${app.url}/v1/things`, init)
  return { status: reply.status, ...((await reply.json()) as Omit<Answer, 'status'>) }
}

test('a file is taken whether its fields come before or after it', async (t) => {
  const app = await uploadServer(t)
  for (const body of [
    [purpose, file('hello'), lastBoundary],
    [file('hello'), purpose, lastBoundary],
  ]) {
    const reply = await send(app, Buffer.concat(body))
    assert.equal(reply.status, 200)
    assert.deepEqual(reply.fields, { purpose: 'evals' })
    assert.deepEqual(reply.file, {
      bytes: 5,
      filename: 'a.txt',
      mimeType: 'text/plain',
      sha256: createHash('sha256').update('hello').digest('hex'),
    })
  }
  assert.deepEqual(app.counts, { begun: 2, kept: 2, failed: 0, discarded: 0 })
})

test('nested fields and lists arrive as the SDK writes them', async (t) => {
  const app = await uploadServer(t)
  const form = new FormData()
  form.set('purpose', 'batch')
  form.set('expires_after[anchor]', 'created_at')
  form.set('expires_after[seconds]', '3600')
  form.append('tags[]', 'a')
  form.append('tags[]', 'b')
  form.set('file', new Blob(['x'], { type: 'application/jsonl' }), 'rows.jsonl')
  const reply = await send(app, form)
  assert.deepEqual(reply.fields, {
    purpose: 'batch',
    expires_after: { anchor: 'created_at', seconds: 3600 },
    tags: ['a', 'b'],
  })
  assert.equal(reply.file.mimeType, 'application/jsonl')
})

const refusals: [name: string, body: Buffer[], code: string, param: string | null][] = [
  ['no file', [purpose, lastBoundary], 'missing_required_parameter', 'file'],
  [
    'a file under another name',
    [purpose, part('data', 'x', { filename: 'a' }), lastBoundary],
    'unknown_parameter',
    'data',
  ],
  ['two files', [purpose, file('a'), file('b'), lastBoundary], 'invalid_multipart', 'file'],
  [
    'an unknown field after the file',
    [purpose, file('a'), part('color', 'red'), lastBoundary],
    'unknown_parameter',
    'color',
  ],
  ['a missing field', [file('a'), lastBoundary], 'missing_required_parameter', 'purpose'],
  ['a field sent twice', [purpose, purpose, file('a'), lastBoundary], 'invalid_value', 'purpose'],
  ['a field in two shapes', [purpose, file('a'), part('purpose[]', 'x'), lastBoundary], 'invalid_type', 'purpose'],
  ['a field that cannot be stored', [part('purpose', 'a\u0000'), file('a'), lastBoundary], 'invalid_value', 'purpose'],
  ['a file name that cannot be stored', [purpose, file('a', 'a\u0000b'), lastBoundary], 'invalid_value', 'file'],
  ['a file name without end', [purpose, file('a', 'x'.repeat(2_000)), lastBoundary], 'string_above_max_length', 'file'],
  [
    'a field without end',
    [part('purpose', 'x'.repeat(70_000)), file('a'), lastBoundary],
    'string_above_max_length',
    'purpose',
  ],
  [
    'a field name without end',
    [part('x'.repeat(5_000), ''), file('a'), lastBoundary],
    'unknown_parameter',
    `${'x'.repeat(200)}…`,
  ],
  [
    'too many fields',
    [...Array.from({ length: 60 }, () => part('tags[]', 'x')), file('a'), lastBoundary],
    'invalid_multipart',
    null,
  ],
  [
    'a part without a name',
    [Buffer.from(`--${boundary}\r\ncontent-disposition: form-data\r\n\r\nx\r\n`), lastBoundary],
    'invalid_multipart',
    null,
  ],
  ['a body cut inside the file', [purpose, file('hello').subarray(0, -4)], 'invalid_multipart', null],
  ['a body without its last boundary', [purpose, file('hello')], 'invalid_multipart', null],
  [
    'a part whose header never ends',
    [purpose, file('a'), Buffer.from(`--${boundary}\r\ncontent-disposition: x\r\n--${boundary}--\r\n`)],
    'invalid_multipart',
    null,
  ],
  ['a body of something else', [Buffer.from('{"purpose":"evals"}')], 'invalid_multipart', null],
  ['an empty body', [], 'invalid_multipart', null],
]
for (const [name, body, code, param] of refusals) {
  test(`${name} is refused as ${code}, and nothing is kept`, async (t) => {
    const app = await uploadServer(t)
    const reply = await send(app, Buffer.concat(body))
    assert.deepEqual(
      { status: reply.status, code: reply.error.code, param: reply.error.param },
      { status: 400, code, param },
    )
    await until('what was kept to be discarded', () => app.counts.kept === app.counts.discarded)
    assert.equal(app.counts.begun, app.counts.kept + app.counts.failed, 'no receiver is left waiting')
  })
}

test('a header without a boundary is refused', async (t) => {
  const app = await uploadServer(t)
  for (const bad of ['multipart/form-data', 'multipart/form-data; boundary=', 'multipart/form-data; boundary']) {
    const reply = await send(app, Buffer.concat([purpose, file('a'), lastBoundary]), { 'content-type': bad })
    assert.deepEqual([reply.status, reply.error.code], [400, 'invalid_multipart'], bad)
  }
})

test('another kind of body is refused before any of it is read', async (t) => {
  const app = await uploadServer(t)
  for (const bad of [
    'application/json',
    'text/plain',
    'multipart/mixed; boundary=x',
    'application/x-www-form-urlencoded',
  ]) {
    const reply = await send(app, Buffer.from('{}'), { 'content-type': bad })
    assert.deepEqual([reply.status, reply.error.code], [415, 'unsupported_media_type'], bad)
  }
})

test('an empty file is a file', async (t) => {
  const app = await uploadServer(t)
  const reply = await send(app, Buffer.concat([purpose, file(''), lastBoundary]))
  assert.deepEqual([reply.status, reply.file.bytes], [200, 0])
})

test('a file name keeps its letters and loses its path', async (t) => {
  const app = await uploadServer(t)
  const named = async (filename: string) =>
    (await send(app, Buffer.concat([purpose, file('x', filename), lastBoundary]))).file.filename
  assert.equal(await named('../../etc/passwd'), 'passwd')
  assert.equal(await named('C:\\\\temp\\\\ä 😀.txt'), 'ä 😀.txt')
  assert.equal(await named(''), 'upload')
  assert.equal(await named('..'), 'upload')
})

test('a file of exactly the largest size is taken, and one byte more is not', async (t) => {
  const app = await uploadServer(t, { bytesMax: 1_000 })
  const fits = await send(app, Buffer.concat([purpose, file('x'.repeat(1_000)), lastBoundary]))
  assert.deepEqual([fits.status, fits.file.bytes], [200, 1_000])
  const over = await send(app, Buffer.concat([purpose, file('x'.repeat(1_001)), lastBoundary]))
  assert.deepEqual([over.status, over.error.code, over.error.param], [413, 'file_too_large', 'file'])
  assert.deepEqual(app.counts, { begun: 2, kept: 1, failed: 1, discarded: 0 })
})

test('a body announced as too large is refused, and the client gets to read so while it still sends', async (t) => {
  const app = await uploadServer(t, { bytesMax: 1_000 })
  const big = Buffer.concat([purpose, file(Buffer.alloc(30_000_000)), lastBoundary])
  for (let round = 0; round < 5; round += 1) {
    const reply = await send(app, big)
    assert.deepEqual([reply.status, reply.error.code], [413, 'file_too_large'])
  }
  assert.equal(app.counts.begun, 0)
})

function chunked(app: UploadServer): RawClient {
  const head = request('POST /v1/things', { 'content-type': type, 'transfer-encoding': 'chunked' })
  return new RawClient(app.port).write(head)
}
const chunk = (bytes: Buffer) =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])

test('a body in chunks needs no length, and is bounded all the same', async (t) => {
  const app = await uploadServer(t, { bytesMax: 1_000 })
  const whole = chunked(app)
  for (const byte of Buffer.concat([purpose, file('hello'), lastBoundary])) whole.write(chunk(Buffer.from([byte])))
  const taken = await whole.write('0\r\n\r\n').reply()
  assert.equal(taken.status, 200)
  whole.close()

  const preamble = chunked(app)
  for (let sent = 0; sent < 3_000_000 && !preamble.ended; sent += 100_000)
    preamble.write(chunk(Buffer.alloc(100_000, 'x')))
  assert.equal((await preamble.reply()).status, 413)
  preamble.close()

  const epilogue = chunked(app).write(chunk(Buffer.concat([purpose, file('hello'), lastBoundary])))
  for (let sent = 0; sent < 3_000_000 && !epilogue.ended; sent += 100_000)
    epilogue.write(chunk(Buffer.alloc(100_000, 'x')))
  assert.equal((await epilogue.reply()).status, 413)
  epilogue.close()
  await until('the epilogue’s file to be discarded', () => app.counts.discarded === 1)
})

test('a client that leaves midway leaves nothing behind', async (t) => {
  const app = await uploadServer(t)
  for (const [sent, discarded] of [
    [Buffer.concat([purpose, file('hello').subarray(0, -4)]), 0],
    [Buffer.concat([purpose, file('hello'), part('tags[]', 'x').subarray(0, 20)]), 1],
  ] as const) {
    const before = { ...app.counts }
    const client = new RawClient(app.port).write(
      request('POST /v1/things', { 'content-type': type, 'content-length': '5000' }),
    )
    client.write(sent)
    await until('the file to arrive', () => app.counts.begun === before.begun + 1)
    if (discarded === 1) await until('the file to be whole', () => app.counts.kept === before.kept + 1)
    client.close()
    await until(
      'the end to be noticed',
      () => app.counts.failed + app.counts.discarded === before.failed + before.discarded + 1,
    )
    assert.equal(app.counts.discarded - before.discarded, discarded)
  }
  await until('both to be logged', () => app.observed.length === 2)
  assert.deepEqual(
    app.observed.map(({ status }) => status),
    [499, 499],
  )
  const lines = await app.lines()
  assert.deepEqual(
    lines.filter(({ level }) => level === 'error'),
    [],
  )
})

test('a flood of part headers is neither kept nor waited for', async (t) => {
  const app = await uploadServer(t)
  const flood = (headers: string) =>
    Buffer.from(`--${boundary}\r\n${headers}content-disposition: form-data; name="tags[]"\r\n\r\nx\r\n`)
  for (const headers of ['x-a: b\r\n'.repeat(5_000), `x-a: ${'b'.repeat(500_000)}\r\n`]) {
    const reply = await send(app, Buffer.concat([purpose, file('hello'), flood(headers), lastBoundary]))
    assert.ok(reply.status === 200 || reply.status === 400)
  }
})

test('a receiver that refuses is heard, without waiting for the rest', async (t) => {
  const app = await uploadServer(t, {
    receive: async () => {
      throw new Fault('upload_not_pending', 'The upload is over.')
    },
  })
  const reply = await send(app, Buffer.concat([purpose, file('x'.repeat(90_000)), lastBoundary]))
  assert.deepEqual([reply.status, reply.error.code], [400, 'upload_not_pending'])
})

test('a receiver that needs only the beginning does not stop the rest', async (t) => {
  const app = await uploadServer(t, {
    receive: async ({ stream }) => {
      const first = await new Promise<Buffer>((resolve) =>
        stream.once('readable', () => resolve(stream.read() as Buffer)),
      )
      return { sha256: 'x', bytes: first.length, filename: 'a', mimeType: 'b' }
    },
  })
  const reply = await send(app, Buffer.concat([file('x'.repeat(90_000)), purpose, lastBoundary]))
  assert.equal(reply.status, 200)
})

test('a large file passes through in little memory', async (t) => {
  const total = 192 * 1024 * 1024
  const app = await uploadServer(t, { bytesMax: total, options: { requestTimeoutMs: 120_000 } })
  const client = chunked(app).write(chunk(Buffer.concat([purpose, file('')]).subarray(0, -2)))
  const piece = chunk(Buffer.alloc(256 * 1024, 'x'))
  globalThis.gc?.()
  const before = process.memoryUsage().rss
  let highest = before
  for (let sent = 0; sent < total; sent += 256 * 1024) {
    if (!client.socket.write(piece)) await new Promise((resolve) => client.socket.once('drain', resolve))
    highest = Math.max(highest, process.memoryUsage().rss)
  }
  const reply = await client
    .write(chunk(Buffer.concat([Buffer.from('\r\n'), lastBoundary])))
    .write('0\r\n\r\n')
    .reply()
  assert.equal((JSON.parse(reply.body) as Answer).file.bytes, total)
  const grownMb = (highest - before) / 1024 / 1024
  assert.ok(grownMb < 96, `memory grew by ${grownMb.toFixed(1)} MB`)
  client.close()
})

test('whatever arrives as multipart is answered, and no receiver is left waiting', { timeout: 120_000 }, async (t) => {
  const app = await uploadServer(t, { bytesMax: 500 })
  const whole = Buffer.concat([purpose, file('hello world'), part('tags[]', 'x'), lastBoundary])
  const scraps = fc.constantFrom(
    '\r\n',
    '--',
    boundary,
    `--${boundary}`,
    `--${boundary}--`,
    'content-disposition: form-data',
    '; name="file"',
    '; filename="',
    '"',
    '\u0000',
    ': ',
    'x',
  )
  const change = fc.record({ at: fc.nat(whole.length), remove: fc.nat(30), insert: fc.array(scraps, { maxLength: 4 }) })
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 4 }), async (changes) => {
      let body = whole
      for (const { at, remove, insert } of changes) {
        body = Buffer.concat([body.subarray(0, at), Buffer.from(insert.join('')), body.subarray(at + remove)])
      }
      const reply = await send(app, body)
      assert.ok(reply.status < 500, `${reply.status} for ${JSON.stringify(body.toString('latin1'))}`)
      assert.equal(app.counts.begun, app.counts.kept + app.counts.failed)
    }),
    { numRuns: 100, interruptAfterTimeLimit: 30_000 },
  )
})
