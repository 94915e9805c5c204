import assert from 'node:assert/strict'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { test, type TestContext } from 'node:test'
import { createNames, dnsResolve } from './names.ts'
import type { OutboundRefused } from './refused.ts'

/** A name server on this machine: `one.example` has one IPv4 address, `silent.example` gets no answer, others do not exist. */
async function nameServer(t: TestContext): Promise<string> {
  const socket = createSocket('udp4')
  socket.on('message', (query, from) => {
    const question = query.subarray(12, query.indexOf(0, 12) + 5)
    const name = question.toString('latin1')
    if (name.includes('silent')) return
    const wantsIpv4 = question.readUInt16BE(question.length - 4) === 1
    const answers = name.includes('one') && wantsIpv4 ? 1 : 0
    const header = Buffer.from(query.subarray(0, 12))
    header.writeUInt16BE(name.includes('one') ? 0x8180 : 0x8183, 2)
    header.writeUInt16BE(answers, 6)
    header.writeUInt32BE(0, 8)
    const record = Buffer.from([0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 60, 0, 4, 93, 184, 215, 14])
    socket.send(Buffer.concat([header, question, ...(answers === 1 ? [record] : [])]), from.port, from.address)
  })
  socket.bind(0, '127.0.0.1')
  await once(socket, 'listening')
  t.after(() => socket.close())
  return `127.0.0.1:${socket.address().port}`
}

test('a name is asked for both kinds of address and needs only one of them', async (t) => {
  const { resolve } = dnsResolve(1_000, [await nameServer(t)])
  assert.deepEqual(await resolve('one.example'), ['93.184.215.14'])
})

test('a name that does not exist, or whose server is silent, ends in time', async (t) => {
  const dns = dnsResolve(200, [await nameServer(t)])
  await assert.rejects(dns.resolve('missing.example'), { code: 'ENOTFOUND' })
  await assert.rejects(dns.resolve('silent.example'), { code: 'ETIMEOUT' })
})

test('an answer serves every connection of the next seconds, and is asked for once', async () => {
  let asked = 0
  const names = createNames({ resolve: () => Promise.resolve([`1.1.1.${++asked}`]), ttlMs: 60_000 })
  const answers = await Promise.all([1, 2, 3].map(() => names.addressesOf('a.example')))
  assert.deepEqual(answers, [['1.1.1.1'], ['1.1.1.1'], ['1.1.1.1']])
  assert.deepEqual(await names.addressesOf('b.example'), ['1.1.1.2'])
})

test('a name of this machine is this machine, whatever a server says', async () => {
  const names = createNames({ resolve: () => Promise.resolve(['1.1.1.1']), ttlMs: 60_000 })
  for (const host of ['localhost', 'localhost.', 'api.localhost']) {
    await assert.rejects(
      names.addressesOf(host),
      (error) => (error as OutboundRefused).reason === 'address_not_allowed',
    )
  }
  const dev = createNames({ resolve: () => Promise.resolve([]), allowPrivate: 'loopback', ttlMs: 60_000 })
  assert.deepEqual(await dev.addressesOf('localhost'), ['127.0.0.1', '::1'])
})
