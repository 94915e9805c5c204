import fc from 'fast-check'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { until } from './testing/poll.ts'
import { key } from './testing/test-server.ts'
import { boundary, lastBoundary, part, uploadServer, type UploadServer } from './testing/upload.ts'

const purpose = part('purpose', 'evals')
const file = (filename: string, content = 'x', name = 'file[]') => part(name, content, { filename })

interface Answer {
  status: number
  error: { code: string; param: string | null }
  file: { bytes: number; filename: string }
}

async function send(app: UploadServer, ...parts: Buffer[]): Promise<Answer> {
  const headers = { ...key, 'content-type': `multipart/form-data; boundary=${boundary}` }
  const init = { method: 'POST', headers, body: Buffer.concat([...parts, lastBoundary]) }
  const reply = await fetch(`${app.url}/v1/things`, init)
  return { status: reply.status, ...((await reply.json()) as Omit<Answer, 'status'>) }
}

test('a folder arrives as its files, in their order and with their paths as they were sent', async (t) => {
  const app = await uploadServer(t, { filesMax: 3 })
  const reply = await send(app, file('a/SKILL.md'), purpose, file('a/b/c.txt', 'hello'), file('../d', '', 'file'))
  assert.equal(reply.status, 200)
  assert.deepEqual([reply.file.filename, reply.file.bytes], ['a/SKILL.md|a/b/c.txt|../d', 6])
  assert.deepEqual(app.counts, { begun: 3, kept: 3, failed: 0, discarded: 0 })
})

test('one file is a folder of one', async (t) => {
  const app = await uploadServer(t, { filesMax: 3 })
  const reply = await send(app, purpose, file('skill.zip', 'hello', 'file'))
  assert.deepEqual([reply.status, reply.file.filename, reply.file.bytes], [200, 'skill.zip', 5])
})

const many = (count: number) => Array.from({ length: count }, (_, at) => file(`f${at}`))

const refused: [says: string, parts: Buffer[], code: string, param: string][] = [
  ['one file too many', [purpose, ...many(4)], 'invalid_multipart', 'file'],
  ['many files too many', [purpose, ...many(30)], 'invalid_multipart', 'file'],
  ['no file', [purpose], 'missing_required_parameter', 'file'],
  ['a file under another name', [purpose, file('a'), file('b', 'x', 'other[]')], 'unknown_parameter', 'other[]'],
  ['a file in a map', [purpose, file('a'), file('b', 'x', 'file[a]')], 'unknown_parameter', 'file[a]'],
  ['a missing field', [file('a'), file('b')], 'missing_required_parameter', 'purpose'],
  ['a name that cannot be stored', [purpose, file('a'), file('b\u0000')], 'invalid_value', 'file'],
]
for (const [says, parts, code, param] of refused) {
  test(`a folder with ${says} is refused as ${code}, and nothing of it is kept`, async (t) => {
    const app = await uploadServer(t, { filesMax: 3 })
    const reply = await send(app, ...parts)
    assert.deepEqual([reply.status, reply.error.code, reply.error.param], [400, code, param])
    await until('what was kept to be discarded', () =>
      says === 'a missing field' ? app.counts.discarded === 1 : app.counts.kept === app.counts.discarded,
    )
    assert.equal(app.counts.begun, app.counts.kept + app.counts.failed, 'no receiver is left waiting')
  })
}

test('whatever arrives as a folder is answered, and no receiver is left waiting', { timeout: 120_000 }, async (t) => {
  const app = await uploadServer(t, { bytesMax: 500, filesMax: 3 })
  const whole = Buffer.concat([purpose, file('a/b', 'hello'), file('c', 'world'), lastBoundary])
  const scraps = fc.constantFrom(
    '\r\n',
    `--${boundary}`,
    `--${boundary}--`,
    '; name="file[]"',
    '; filename="',
    '"',
    'x',
  )
  const change = fc.record({ at: fc.nat(whole.length), remove: fc.nat(30), insert: fc.array(scraps, { maxLength: 4 }) })
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 3 }), async (changes) => {
      let body = whole
      for (const { at, remove, insert } of changes) {
        body = Buffer.concat([body.subarray(0, at), Buffer.from(insert.join('')), body.subarray(at + remove)])
      }
      const reply = await send(app, body)
      assert.ok(reply.status < 500, `${reply.status} for ${JSON.stringify(body.toString('latin1'))}`)
      assert.equal(app.counts.begun, app.counts.kept + app.counts.failed)
    }),
    { numRuns: 60, interruptAfterTimeLimit: 20_000 },
  )
})
