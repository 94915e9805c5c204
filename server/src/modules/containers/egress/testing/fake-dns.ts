import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { isIPv4 } from 'node:net'

/** A test, or whoever else ends things when it is over. */
export interface Ending {
  after(end: () => void): void
}

const A = 1
const AAAA = 28

/** A DNS server on loopback whose answers a test may change while it runs. Names it does not know do not exist. */
export async function fakeDns(t: Ending, records: Map<string, string[]>) {
  const asked: string[] = []
  const socket = createSocket('udp4')
  socket.on('message', (query, from) => {
    const { name, answer } = answerQuery(query, (wanted) => records.get(wanted))
    asked.push(name)
    socket.send(answer, from.port, from.address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  t.after(() => socket.close())
  return { address: `127.0.0.1:${socket.address().port}`, asked, records }
}

type Addresses = (name: string, type: number) => readonly string[] | undefined

/** What was asked, and the answer to it. A name without a list of addresses does not exist. */
export function answerQuery(query: Buffer, addressesOf: Addresses) {
  const { name, end } = readName(query)
  const type = query.readUInt16BE(end)
  const known = addressesOf(name, type)
  const answers = (known ?? []).filter((address) => type === (isIPv4(address) ? A : AAAA))
  const header = Buffer.from(query.subarray(0, 12))
  header.writeUInt16BE(known === undefined ? 0x8183 : 0x8180, 2)
  header.writeUInt16BE(answers.length, 6)
  header.fill(0, 8, 12)
  const question = query.subarray(12, end + 4)
  return { name, type, answer: Buffer.concat([header, question, ...answers.map(record)]) }
}

function readName(query: Buffer): { name: string; end: number } {
  const labels: string[] = []
  let at = 12
  while (at < query.length && query[at] !== 0) {
    const length = query[at] ?? 0
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += 1 + length
  }
  return { name: labels.join('.').toLowerCase(), end: at + 1 }
}

function record(address: string): Buffer {
  const data = isIPv4(address) ? Buffer.from(address.split('.').map(Number)) : ipv6Bytes(address)
  const head = Buffer.alloc(12)
  head.writeUInt16BE(0xc00c, 0)
  head.writeUInt16BE(isIPv4(address) ? A : AAAA, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt32BE(0, 6)
  head.writeUInt16BE(data.length, 10)
  return Buffer.concat([head, data])
}

function ipv6Bytes(address: string): Buffer {
  const [left = '', right = ''] = address.split('::')
  const groups = (text: string) => (text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16)))
  const [head, tail] = [groups(left), groups(right)]
  const all = [...head, ...Array.from({ length: 8 - head.length - tail.length }, () => 0), ...tail]
  const bytes = Buffer.alloc(16)
  for (const [at, group] of all.entries()) bytes.writeUInt16BE(group, at * 2)
  return bytes
}
