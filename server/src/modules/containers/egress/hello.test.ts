import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { HELLO_BYTES_MAX, readHello } from './hello.ts'
import { helloBytes, inRecords, nameExtension, withExtension, withExtensions, withName } from './testing/hellos.ts'

const NAME = 'listed.example'
const NAMED = { kind: 'hello', serverName: NAME }
const refused = (reason: string) => ({ kind: 'refused', reason })

/** Hellos of several versions and sizes, as a real client sends them. */
async function realHellos(): Promise<[name: string, bytes: Buffer][]> {
  return [
    ['TLS 1.3', await helloBytes({ servername: NAME })],
    ['TLS 1.2', await helloBytes({ servername: NAME, maxVersion: 'TLSv1.2' })],
    ['ALPN', await helloBytes({ servername: NAME, ALPNProtocols: ['h2', 'http/1.1'] })],
    [
      'one suite',
      await helloBytes({ servername: NAME, ciphers: 'ECDHE-RSA-AES128-GCM-SHA256', maxVersion: 'TLSv1.2' }),
    ],
    ['post-quantum', await helloBytes({ servername: NAME, ecdhCurve: 'X25519MLKEM768:X25519' })],
    ['padded', withExtension(await helloBytes({ servername: NAME }), 21, Buffer.alloc(1_000))],
  ]
}

test('the name of a real hello is read, whatever came so far ends in', async () => {
  for (const [name, bytes] of await realHellos()) {
    assert.deepEqual(readHello(bytes), NAMED, name)
    for (let end = 0; end < bytes.length; end += 1)
      assert.deepEqual(readHello(bytes.subarray(0, end)), { kind: 'more' }, `${name} ${end}`)
    // A client that sends more before an answer (early data) has still said its name first.
    assert.deepEqual(readHello(Buffer.concat([bytes, Buffer.from([23, 3, 3, 0, 1, 0])])), NAMED, name)
  }
})

test('a hello cut into several records is put together', async () => {
  for (const [name, bytes] of await realHellos()) {
    for (const size of [16, 33, 100, 512, 5_000]) {
      const cut = inRecords(bytes, size)
      assert.deepEqual(readHello(cut), NAMED, `${name} ${size}`)
      for (let end = 0; end < cut.length; end += 7) assert.deepEqual(readHello(cut.subarray(0, end)), { kind: 'more' })
    }
  }
})

test('a hello without a name or with a hidden one is refused', async () => {
  assert.deepEqual(readHello(await helloBytes({})), refused('name_missing'))
  const hello = await helloBytes({ servername: NAME })
  for (const type of [0xfe0d, 0xfe0a, 0xffce]) {
    assert.deepEqual(readHello(withExtension(hello, type, Buffer.alloc(50, 1))), refused('ech_not_allowed'))
  }
})

test('a hello that could be read as two names is refused', async () => {
  const hello = await helloBytes({ servername: NAME })
  const twice = withExtensions(hello, (extensions) => Buffer.concat([extensions, nameExtension('evil.example')]))
  const two = withExtensions(hello, () => nameExtension(NAME, 'evil.example'))
  const empty = withExtensions(hello, () => nameExtension(''))
  const trailing = withExtensions(hello, () =>
    Buffer.concat([Buffer.from([0, 0, 0, 9, 0, 4, 0, 0, 1, 97]), Buffer.from('xyz')]),
  )
  for (const bytes of [twice, two, empty, trailing, withName(hello, 'a\0b'), withName(hello, 'a b')]) {
    assert.deepEqual(readHello(bytes), refused('hello_malformed'))
  }
})

test('other protocols and wrong lengths are refused', async () => {
  const hello = await helloBytes({ servername: NAME })
  const wrong = (at: number, byte: number) => {
    const bytes = Buffer.from(hello)
    bytes[at] = byte
    return readHello(bytes)
  }
  assert.deepEqual(readHello(Buffer.from('GET / HTTP/1.1\r\n')), refused('hello_malformed'))
  assert.deepEqual(readHello(Buffer.from([0x80, 0x2e, 1, 3, 1])), refused('hello_malformed'), 'the hello of SSL 2')
  assert.deepEqual(wrong(5, 2), refused('hello_malformed'), 'a server hello')
  assert.deepEqual(wrong(9, 2), refused('hello_malformed'), 'no version of TLS')
  assert.deepEqual(wrong(43, 33), refused('hello_malformed'), 'a session id that is too long')
  assert.deepEqual(readHello(Buffer.from([22, 3, 1, 0, 0])), refused('hello_malformed'), 'an empty record')
})

test('a hello that never ends is given up', () => {
  const record = Buffer.concat([
    Buffer.from([22, 3, 1, 0x40, 0]),
    Buffer.from([1, 0, 0xff, 0xff]),
    Buffer.alloc(16_380),
  ])
  const next = Buffer.concat([Buffer.from([22, 3, 1, 0x40, 0]), Buffer.alloc(16_384)])
  assert.deepEqual(readHello(Buffer.concat([record, next, next])), refused('hello_too_long'))
  const tiny = Buffer.concat(Array.from({ length: HELLO_BYTES_MAX / 6 }, () => Buffer.from([22, 3, 1, 0, 1, 1])))
  assert.deepEqual(readHello(tiny), refused('hello_too_long'))
})

test('no bytes make the reader fail', async () => {
  const hello = await helloBytes({ servername: NAME })
  const changes = fc.array(fc.tuple(fc.nat({ max: hello.length - 1 }), fc.nat({ max: 255 })), { maxLength: 6 })
  fc.assert(
    fc.property(changes, (list) => {
      const bytes = Buffer.from(hello)
      for (const [at, byte] of list) bytes[at] = byte
      assert.ok(['more', 'refused', 'hello'].includes(readHello(bytes).kind))
    }),
    { numRuns: 2_000 },
  )
  fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), (bytes) => readHello(Buffer.from(bytes)).kind !== 'hello'))
})
