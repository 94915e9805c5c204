import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bypasses } from './bypasses.ts'
import type { InternetEvent } from './internet.ts'
import { judge, readTold, type Seen } from './judge.ts'
import { world } from './world.ts'

const secret = 'sk-planted'
const { open, unlisted, other } = world.hosts
const [bypass] = bypasses
assert.ok(bypass !== undefined)

const said = [
  { attempt: 'TCP', got: 'ENETUNREACH', through: false },
  { control: true, got: '200 welcome' },
]
const told = (lines: readonly object[] = said) => readTold(lines.map((line) => JSON.stringify(line)).join('\n'))
const allowed = { to: open.v4, protocol: 'tcp', port: 443 } as const
const fine: Seen = {
  packets: [allowed, { to: world.resolver.v4, protocol: 'udp', port: 53 }],
  events: [{ kind: 'question', name: open.name, type: 1 }],
  doors: [],
}
const request = (over: object) => {
  const usual = { address: open.v4, port: 443, host: open.name, serverName: open.name, method: 'GET', url: '/' }
  return { kind: 'request', ...usual, secure: true, expected: true, headers: [], ...over } as InternetEvent
}

test('a bypass is blocked when nothing but the allowed way was taken', () => {
  const verdict = judge(bypass, told(), { ...fine, events: [...fine.events, request({})] }, secret)
  assert.deepEqual([verdict.blocked, verdict.why, verdict.strayPackets], [true, [], 0])
  assert.deepEqual(verdict.how, ['ENETUNREACH ×1'])
})

test('anything that got out, by any sign of it, is not blocked', () => {
  const stray = [
    { to: unlisted.v4, protocol: 'tcp', port: 443 },
    { to: open.v4, protocol: 'tcp', port: 22 },
    { to: open.v4, protocol: 'udp', port: 443 },
    { to: '8.8.8.8', protocol: 'udp', port: 53 },
    { to: open.v6, protocol: 'icmp', port: 0 },
  ] as const
  for (const packet of stray) {
    const verdict = judge(bypass, told(), { ...fine, packets: [allowed, packet] }, secret)
    assert.deepEqual([verdict.blocked, verdict.strayPackets], [false, 1], JSON.stringify(packet))
  }
  const events: InternetEvent[] = [
    { kind: 'question', name: `data.${unlisted.name}`, type: 16 },
    { kind: 'connection', address: open.v4, port: 853 },
    request({ kind: 'relay' }),
    request({ expected: false }),
    request({ url: '/smuggled' }),
    request({ host: other.name, headers: ['X-Key', secret] }),
    request({ host: world.hosts.secret.name, headers: ['X-Key', secret], secure: false }),
  ]
  for (const event of events) {
    assert.equal(judge(bypass, told(), { ...fine, events: [event] }, secret).blocked, false, JSON.stringify(event))
  }
  assert.equal(judge(bypass, told(), { ...fine, doors: ['127.0.0.1 80'] }, secret).blocked, false)
  const through = [{ attempt: 'TCP', got: 'REACHED', through: true }, said[1] ?? {}]
  assert.equal(judge(bypass, told(through), fine, secret).blocked, false)
})

test('an attempt that shows nothing is not called blocked', () => {
  const [tried = {}, control = {}] = said
  assert.equal(judge(bypass, told([control]), fine, secret).blocked, false)
  assert.equal(judge(bypass, told([tried]), fine, secret).blocked, false)
  assert.equal(judge(bypass, told([tried, { control: false }]), fine, secret).blocked, false)
  assert.equal(judge(bypass, told([...said, { note: 'met', holds: false }]), fine, secret).blocked, false)
  assert.equal(judge(bypass, told(), { ...fine, packets: [] }, secret).blocked, false)
})
