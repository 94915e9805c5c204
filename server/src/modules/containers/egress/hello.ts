/** What the first bytes of a TLS client say. `more` asks for further bytes. */
export type Hello = { kind: 'more' } | { kind: 'refused'; reason: HelloRefusal } | { kind: 'hello'; serverName: string }

export type HelloRefusal = 'hello_malformed' | 'hello_too_long' | 'name_missing' | 'ech_not_allowed'

/** Largest first message that is read, over all its records. Key shares of post-quantum groups take about 2 kB. */
export const HELLO_BYTES_MAX = 32_768

/** Clients that cut their hello into records cut it into a handful. */
const RECORDS_MAX = 256
const RECORD_HEADER = 5
const RECORD_HANDSHAKE = 22
const RECORD_BYTES_MAX = 16_384
const CLIENT_HELLO = 1
const MESSAGE_HEADER = 4
const SERVER_NAME = 0
const HOST_NAME = 0

/**
 * Encrypted hellos: 0xfe0d is the published one, the others are drafts. With them the server answers for a name that
 * nobody but it can read. Browsers send random bytes of the same shape, which cannot be told apart; they are refused too.
 */
const ENCRYPTED_HELLO: ReadonlySet<number> = new Set([0xfe08, 0xfe09, 0xfe0a, 0xfe0b, 0xfe0c, 0xfe0d, 0xffce])

const MALFORMED: Hello = { kind: 'refused', reason: 'hello_malformed' }
const TOO_LONG: Hello = { kind: 'refused', reason: 'hello_too_long' }
const MORE: Hello = { kind: 'more' }

/**
 * Reads the ClientHello out of all bytes received so far. Lengths must fit to the byte: what two readers could take for
 * two different names is refused.
 */
export function readHello(bytes: Buffer): Hello {
  const fragments: Buffer[] = []
  let gathered = 0
  let need: number | null = null
  for (let at = 0; fragments.length < RECORDS_MAX;) {
    const record = readRecord(bytes, at)
    if (record === null) return MALFORMED
    if (record === 'more') return bytes.length > HELLO_BYTES_MAX ? TOO_LONG : MORE
    if (fragments.length === 0 && record[0] !== CLIENT_HELLO) return MALFORMED
    fragments.push(record)
    gathered += record.length
    at += RECORD_HEADER + record.length
    need ??= gathered < MESSAGE_HEADER ? null : MESSAGE_HEADER + Buffer.concat(fragments).readUIntBE(1, 3)
    if (need === null || gathered < need) continue
    // Nothing may follow in the hello's records: a client waits for the answer.
    return gathered === need ? readMessage(Buffer.concat(fragments).subarray(MESSAGE_HEADER)) : MALFORMED
  }
  return TOO_LONG
}

function readRecord(bytes: Buffer, at: number): Buffer | 'more' | null {
  if (bytes.length > at && bytes[at] !== RECORD_HANDSHAKE) return null
  if (bytes.length > at + 1 && bytes[at + 1] !== 3) return null
  if (bytes.length < at + RECORD_HEADER) return 'more'
  const length = bytes.readUInt16BE(at + 3)
  if (length === 0 || length > RECORD_BYTES_MAX) return null
  const end = at + RECORD_HEADER + length
  return bytes.length < end ? 'more' : bytes.subarray(at + RECORD_HEADER, end)
}

/** Reads lengths and what they announce; once something does not fit, `ok` stays false. */
class Reader {
  ok = true
  #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  get done(): boolean {
    return this.#at >= this.#bytes.length
  }

  take(length: number): Buffer {
    const end = this.#at + length
    if (end > this.#bytes.length) this.ok = false
    const taken = this.#bytes.subarray(this.#at, end)
    this.#at = this.ok ? end : this.#bytes.length
    return taken
  }

  number(size: 1 | 2): number {
    const taken = this.take(size)
    return this.ok ? taken.readUIntBE(0, size) : 0
  }

  vector(size: 1 | 2): Buffer {
    return this.take(this.number(size))
  }
}

function readMessage(body: Buffer): Hello {
  const reader = new Reader(body)
  const version = reader.number(2)
  reader.take(32)
  const session = reader.vector(1)
  const suites = reader.vector(2)
  const compressions = reader.vector(1)
  if (!reader.ok || version >> 8 !== 3 || session.length > 32) return MALFORMED
  if (suites.length === 0 || suites.length % 2 !== 0 || compressions.length === 0) return MALFORMED
  if (reader.done) return { kind: 'refused', reason: 'name_missing' }
  const extensions = reader.vector(2)
  return reader.ok && reader.done ? readExtensions(extensions) : MALFORMED
}

function readExtensions(bytes: Buffer): Hello {
  const reader = new Reader(bytes)
  const seen = new Set<number>()
  let serverName: string | null = null
  while (!reader.done) {
    const type = reader.number(2)
    const data = reader.vector(2)
    if (!reader.ok || seen.has(type)) return MALFORMED
    seen.add(type)
    if (ENCRYPTED_HELLO.has(type)) return { kind: 'refused', reason: 'ech_not_allowed' }
    if (type !== SERVER_NAME) continue
    serverName = readServerName(data)
    if (serverName === null) return MALFORMED
  }
  return serverName === null ? { kind: 'refused', reason: 'name_missing' } : { kind: 'hello', serverName }
}

/** Exactly one name, of the only kind there is. */
function readServerName(data: Buffer): string | null {
  const list = new Reader(data)
  const names = new Reader(list.vector(2))
  const kind = names.number(1)
  const name = names.vector(2)
  if (!list.ok || !list.done || !names.ok || !names.done || kind !== HOST_NAME || name.length === 0) return null
  return name.every((byte) => byte > 0x20 && byte < 0x7f) ? name.toString('latin1') : null
}

const ALERT_RECORD = 21
const FATAL = 2
const ALERTS = { access_denied: 49, unrecognized_name: 112, decode_error: 50, internal_error: 80 } as const

/** A TLS alert, so that a refused client ends at once with an error that says something. */
export function tlsAlert(kind: keyof typeof ALERTS): Buffer {
  return Buffer.from([ALERT_RECORD, 3, 3, 0, 2, FATAL, ALERTS[kind]])
}
