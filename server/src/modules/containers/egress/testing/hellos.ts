import { once } from 'node:events'
import { Duplex } from 'node:stream'
import { connect, type ConnectionOptions } from 'node:tls'

/** The first bytes that node's own TLS client sends. */
export async function helloBytes(options: ConnectionOptions): Promise<Buffer> {
  const sent: Buffer[] = []
  const wire = new Duplex({
    read() {},
    write(chunk: Buffer, _encoding, done) {
      sent.push(chunk)
      wire.emit('sent')
      done()
    },
  })
  const client = connect({ socket: wire, rejectUnauthorized: false, ...options })
  client.on('error', () => undefined)
  if (sent.length === 0) await once(wire, 'sent')
  client.destroy()
  return Buffer.concat(sent)
}

/** The same hello cut into records of at most `size` bytes. */
export function inRecords(hello: Buffer, size: number): Buffer {
  const message = hello.subarray(5)
  const records: Buffer[] = []
  for (let at = 0; at < message.length; at += size) {
    const part = message.subarray(at, at + size)
    records.push(Buffer.from([22, 3, 1, part.length >> 8, part.length & 0xff]), part)
  }
  return Buffer.concat(records)
}

/** Adds an extension at the end. */
export function withExtension(hello: Buffer, type: number, data: Buffer): Buffer {
  const head = Buffer.alloc(4)
  head.writeUInt16BE(type, 0)
  head.writeUInt16BE(data.length, 2)
  return withExtensions(hello, (extensions) => Buffer.concat([extensions, head, data]))
}

/** Puts other bytes in the place of the name. */
export function withName(hello: Buffer, name: string): Buffer {
  return withExtensions(hello, (extensions) => {
    const parts: Buffer[] = []
    for (let at = 0; at < extensions.length;) {
      const length = extensions.readUInt16BE(at + 2)
      const whole = extensions.subarray(at, at + 4 + length)
      parts.push(extensions.readUInt16BE(at) === 0 ? nameExtension(name) : whole)
      at += 4 + length
    }
    return Buffer.concat(parts)
  })
}

export function nameExtension(...names: string[]): Buffer {
  const entries = names.map((name) => {
    const bytes = Buffer.from(name, 'latin1')
    return Buffer.concat([Buffer.from([0, bytes.length >> 8, bytes.length & 0xff]), bytes])
  })
  const list = Buffer.concat(entries)
  const head = Buffer.alloc(6)
  head.writeUInt16BE(list.length + 2, 2)
  head.writeUInt16BE(list.length, 4)
  return Buffer.concat([head, list])
}

/** Rewrites the extensions and every length around them. */
export function withExtensions(hello: Buffer, change: (extensions: Buffer) => Buffer): Buffer {
  const message = hello.subarray(5)
  let at = 4 + 2 + 32
  at += 1 + (message[at] ?? 0)
  at += 2 + message.readUInt16BE(at)
  at += 1 + (message[at] ?? 0)
  const extensions = change(message.subarray(at + 2))
  const size = Buffer.alloc(2)
  size.writeUInt16BE(extensions.length)
  const body = Buffer.concat([message.subarray(4, at), size, extensions])
  const head = Buffer.from([1, 0, body.length >> 8, body.length & 0xff])
  const whole = Buffer.concat([head, body])
  return Buffer.concat([Buffer.from([22, 3, 1, whole.length >> 8, whole.length & 0xff]), whole])
}
