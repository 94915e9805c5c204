import fc from 'fast-check'
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { request } from 'node:http'
import { Readable } from 'node:stream'
import { test, type TestContext } from 'node:test'
import { Fault } from '#platform/errors/fault.ts'
import { createLog } from '#platform/telemetry/log.ts'
import { MeshUnreachable, type MeshCommand } from './command.ts'
import { frame, readFrame, readLines, writeLines } from './frames.ts'
import { MeshListener } from './listener.ts'
import { createMesh } from './mesh.ts'
import { meshKey, sign, SignatureCheck, signatureAgeMs } from './signature.ts'

const key = meshKey(randomBytes(32))
const input = Buffer.from('{}')
const signed = (time: number, nonce: string, by = key, command = 'do') => ({
  time,
  nonce,
  signature: sign(by, command, input, time, nonce),
})

test('a signature is accepted once, in time, for its own command and content, from any key in use', () => {
  let now = 1_000_000
  const older = meshKey(randomBytes(32))
  const check = new SignatureCheck([key, older], () => now)
  assert.equal(check.accepts('do', input, signed(now, 'a')), true)
  assert.equal(check.accepts('do', input, signed(now, 'a')), false, 'sent again')
  assert.equal(check.accepts('do', input, signed(now, 'b', older)), true)
  assert.equal(check.accepts('do', input, signed(now, 'c', meshKey(randomBytes(32)))), false, 'of another deployment')
  assert.equal(check.accepts('other', input, signed(now, 'd')), false)
  assert.equal(check.accepts('do', Buffer.from('{"a":1}'), signed(now, 'e')), false)
  assert.equal(check.accepts('do', input, { ...signed(now, 'f'), nonce: 'g' }), false)
  assert.equal(check.accepts('do', input, signed(now - signatureAgeMs - 1, 'h')), false, 'too old')
  assert.equal(check.accepts('do', input, signed(now + signatureAgeMs + 1, 'i')), false, 'of the future')
  assert.equal(check.accepts('do', input, { time: Number.NaN, nonce: 'j', signature: '' }), false)
  const late = signed(now, 'k')
  assert.equal(check.accepts('do', input, late), true)
  now += signatureAgeMs
  assert.equal(check.accepts('do', input, late), false, 'sent again at the last moment')
})

test('a message is accepted once at whatever times it is sent again', () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: signatureAgeMs }), { minLength: 1, maxLength: 20 }), (pauses) => {
      let now = 10_000_000
      const check = new SignatureCheck([key], () => now)
      const message = signed(now, 'once')
      let accepted = check.accepts('do', input, message) ? 1 : 0
      for (const [at, pause] of pauses.entries()) {
        now += pause
        check.accepts('do', input, signed(now, `other ${at}`))
        if (check.accepts('do', input, message)) accepted += 1
      }
      assert.equal(accepted, 1)
    }),
  )
})

test('a frame is read whole however it is cut, and what follows stays in the stream', async () => {
  const whole = Buffer.concat([frame('{"größe":"🎉"}'), Buffer.from('the rest')])
  for (const size of [1, 3, 7, whole.length]) {
    const chunks = Array.from({ length: Math.ceil(whole.length / size) }, (_, at) =>
      whole.subarray(at * size, (at + 1) * size),
    )
    const stream = Readable.from(chunks, { objectMode: false })
    assert.equal((await readFrame(stream)).toString(), '{"größe":"🎉"}')
    assert.equal(Buffer.concat(await stream.toArray()).toString(), 'the rest')
  }
})

test('a frame that is cut off or too long is refused', async () => {
  for (const bytes of [Buffer.alloc(0), Buffer.from([0, 0]), frame('{"a":1}').subarray(0, 8)]) {
    await assert.rejects(readFrame(Readable.from([bytes], { objectMode: false })), /ended/)
  }
  await assert.rejects(readFrame(Readable.from([Buffer.from([255, 255, 255, 255])], { objectMode: false })), /longer/)
})

test('values survive their way as lines, cut anywhere', async () => {
  const values = [{ a: 1 }, 'text\nwith lines', 'Grüße 🎉', null, [1, 2]]
  const text = Buffer.from(
    (await Readable.from(writeLines(Readable.from(values.map((v) => ({ v }))))).toArray()).join(''),
  )
  for (const size of [1, 2, 5, text.length]) {
    const chunks = Array.from({ length: Math.ceil(text.length / size) }, (_, at) =>
      text.subarray(at * size, (at + 1) * size),
    )
    const read: unknown[] = []
    for await (const value of readLines(Readable.from(chunks))) read.push(value)
    assert.deepEqual(
      read,
      values.map((v) => ({ v })),
    )
  }
})

async function owner(t: TestContext, commands: Record<string, MeshCommand>) {
  const log = createLog({ level: 'fatal', pretty: false, name: 'test' })
  const listener = new MeshListener({ commands: new Map(Object.entries(commands)), keys: [key], log })
  const port = await listener.listen('127.0.0.1', 0)
  const mesh = createMesh(key)
  t.after(async () => {
    mesh.close()
    await listener.close()
  })
  const own = createMesh(key)
  own.serve('owner', new Map(Object.entries(commands)))
  const there = { id: 'owner', url: `http://127.0.0.1:${port}` }
  return { ways: [{ ask: mesh.ask }, { ask: own.ask }], there, listener }
}

test('an owner is asked alike over the wire and in its own process', async (t) => {
  const { ways, there } = await owner(t, {
    async echo({ input: given, body }) {
      const chunks = Buffer.concat((await body.toArray()) as Buffer[])
      return { value: { given, bytes: chunks.length }, bytes: Readable.from([chunks]) }
    },
    async count() {
      return { value: null, events: Readable.from([{ n: 1 }, { n: 2 }]) }
    },
    async refuse() {
      throw new Fault('not_found', 'No such thing.', { param: 'file_id', retryAfterMs: 7 })
    },
    async breakOff() {
      const events = async function* () {
        yield { n: 1 }
        throw new Error('gone')
      }
      return { value: null, events: events() }
    },
  })
  const sent = randomBytes(300_000)
  for (const { ask } of ways) {
    const echoed = await ask(there, 'echo', { input: { a: 'ü' }, body: Readable.from([sent]) })
    assert.deepEqual(echoed.value, { given: { a: 'ü' }, bytes: sent.length })
    const back: Uint8Array[] = []
    for await (const chunk of echoed.bytes) back.push(chunk)
    assert.ok(Buffer.concat(back).equals(sent))
    const counted: unknown[] = []
    for await (const event of (await ask(there, 'count', { input: null })).events()) counted.push(event)
    assert.deepEqual(counted, [{ n: 1 }, { n: 2 }])
    await assert.rejects(ask(there, 'refuse', { input: null }), {
      code: 'not_found',
      param: 'file_id',
      retryAfterMs: 7,
    })
    const heard: unknown[] = []
    const listening = async () => {
      for await (const event of (await ask(there, 'breakOff', { input: null })).events()) heard.push(event)
    }
    await assert.rejects(listening(), MeshUnreachable)
    assert.deepEqual(heard, [{ n: 1 }])
  }
})

test('an owner that cannot be reached, and a caller of another deployment, are told apart from a refusal', async (t) => {
  const { there, listener } = await owner(t, { echo: async () => ({ value: 1 }) })
  const stranger = createMesh(meshKey(randomBytes(32)))
  t.after(() => stranger.close())
  await assert.rejects(stranger.ask(there, 'echo', { input: null }), MeshUnreachable)
  const unsigned = await new Promise<number>((resolve, reject) => {
    const asked = request(`${there.url}/mesh/echo`, { method: 'POST' }, (reply) => resolve(reply.statusCode ?? 0))
    asked.on('error', reject)
    asked.end(frame('null'))
  })
  assert.equal(unsigned, 401)
  await listener.close()
  const mesh = createMesh(key)
  t.after(() => mesh.close())
  await assert.rejects(mesh.ask(there, 'echo', { input: null }), MeshUnreachable)
})
