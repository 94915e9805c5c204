import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PacketReader, readIpv6 } from './packets.ts'

const fileHeader = Buffer.alloc(24)

function record(frame: Buffer): Buffer {
  const head = Buffer.alloc(16)
  head.writeUInt32LE(frame.length, 8)
  head.writeUInt32LE(frame.length, 12)
  return Buffer.concat([head, frame])
}

const ethernet = (type: number, packet: Buffer): Buffer =>
  Buffer.concat([Buffer.alloc(12), Buffer.from([type >> 8, type & 255]), packet])

function ipv4(to: string, protocol: number, rest: Buffer): Buffer {
  const head = Buffer.alloc(20)
  head[0] = 0x45
  head[9] = protocol
  head.set(to.split('.').map(Number), 16)
  return ethernet(0x0800, Buffer.concat([head, rest]))
}

function ipv6(next: number, rest: Buffer): Buffer {
  const head = Buffer.alloc(40)
  head[6] = next
  head.set([0x20, 0x01, 0x0d, 0xb8], 24)
  head[39] = 7
  return ethernet(0x86dd, Buffer.concat([head, rest]))
}

const ports = Buffer.from([0x30, 0x39, 0x01, 0xbb])

test('packets of every kind are told apart, in whatever pieces the capture comes', () => {
  const whole = Buffer.concat([
    fileHeader,
    record(ipv4('198.51.100.140', 6, ports)),
    record(ipv4('198.51.100.140', 17, ports)),
    record(ipv4('8.8.8.8', 1, Buffer.from([8, 0]))),
    record(ipv4('10.0.0.1', 47, Buffer.alloc(4))),
    record(ipv6(6, ports)),
    record(ipv6(58, Buffer.from([128, 0, 0, 0]))),
    record(ethernet(0x88cc, Buffer.alloc(40))),
  ])
  const expected = [
    { to: '198.51.100.140', protocol: 'tcp', port: 443 },
    { to: '198.51.100.140', protocol: 'udp', port: 443 },
    { to: '8.8.8.8', protocol: 'icmp', port: 0 },
    { to: '10.0.0.1', protocol: 'other', port: 0 },
    { to: '2001:db8::7', protocol: 'tcp', port: 443 },
    { to: '2001:db8::7', protocol: 'icmp', port: 0 },
    { to: 'ethernet 35020', protocol: 'other', port: 0 },
  ]
  for (const size of [1, 7, whole.length]) {
    const reader = new PacketReader()
    const found = []
    for (let at = 0; at < whole.length; at += size) found.push(...reader.take(whole.subarray(at, at + size)))
    assert.deepEqual(found, expected)
  }
})

test('what keeps a link going by itself is not counted', () => {
  const groupReport = Buffer.concat([Buffer.from([58, 0, 5, 2, 0, 0, 1, 0]), Buffer.from([143, 0, 0, 0])])
  const frames = [ethernet(0x0806, Buffer.alloc(28)), ipv6(58, Buffer.from([135, 0])), ipv6(0, groupReport)]
  assert.deepEqual(new PacketReader().take(Buffer.concat([fileHeader, ...frames.map(record)])), [])
})

test('addresses are written as the world writes them', () => {
  const bytes = Buffer.from('20010db80e5c000a0000000000000140', 'hex')
  assert.equal(readIpv6(bytes), '2001:db8:e5c:a::140')
})
