import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isLoopbackAddress, isPublicAddress } from './addresses.ts'

const NOT_PUBLIC = words(`
  0.0.0.0 0.255.255.255 10.0.0.1 10.255.255.255 100.64.0.0 100.100.100.200 100.127.255.255 127.0.0.1 127.1.2.3
  168.63.129.16 169.254.0.1 169.254.169.254 172.16.0.0 172.31.255.255 192.0.0.1 192.0.0.192 192.0.2.1 192.31.196.1
  192.52.193.1 192.88.99.1 192.168.0.1 192.175.48.1 198.18.0.1 198.19.255.255 198.51.100.7 203.0.113.7 224.0.0.1
  239.255.255.255 240.0.0.1 255.255.255.255 :: ::1 0:0:0:0:0:0:0:1 ::7f00:1 ::127.0.0.1 ::8.8.8.8 ::ffff:127.0.0.1
  ::ffff:7f00:1 ::ffff:0:127.0.0.1 ::ffff:8.8.8.8 64:ff9b::7f00:1 64:ff9b::8.8.8.8 64:ff9b:1::1 100::1 100:0:0:1::1
  2001::1 2001:0:4136:e378:: 2001:2::1 2001:10::1 2001:20::1 2001:db8::1 2001:1ff:ffff::1 2002:7f00:1::
  2002:808:808::1 2620:4f:8000::1 3fff::1 3fff:fff::1 5f00::1 fc00::1 fd00:ec2::254 fdff::1 fe80::1 fe80::1%lo
  febf::1 fec0::1 ff02::1 ff0e::1 4000::1 1fff::1 e000::1 2606:4700::1%eth0
`)

const PUBLIC = words(`
  1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 93.184.215.14 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0
  168.63.129.15 168.63.129.17 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.0 192.167.255.255
  192.169.0.0 198.17.255.255 198.20.0.0 203.0.114.0 223.255.255.255 2000::1 2001:200::1 2001:4860:4860::8888
  2001:db7::1 2001:db9::1 2003::1 2606:4700:4700::1111 2620:4f:7fff::1 2a00:1450:4001::1 3ffe::1 3fff:1000::1
`)

const NOT_ADDRESSES = ['', 'localhost', '127.1', '0x7f.1', '2130706433', '8.8.8.8 ', ' 8.8.8.8', '8.8.8', '8.8.8.8.8']

test('every address of the special ranges is refused', () => {
  for (const address of NOT_PUBLIC) assert.equal(isPublicAddress(address), false, address)
})

test('the addresses just beside the special ranges are reachable', () => {
  for (const address of PUBLIC) assert.equal(isPublicAddress(address), true, address)
})

test('what is not a plain address is never public', () => {
  for (const text of NOT_ADDRESSES) assert.equal(isPublicAddress(text), false, text)
  fc.assert(fc.property(fc.string(), (text) => !isPublicAddress(text) || /^[0-9a-f.:]+$/i.test(text)))
})

test('each IPv4 address is judged as its number says', () => {
  fc.assert(
    fc.property(fc.nat({ max: 0xffff_ffff }), (number) => {
      assert.equal(
        isPublicAddress(dotted(number)),
        !IPV4_RANGES.some(([first, last]) => number >= first && number <= last),
      )
    }),
    { numRuns: 2_000 },
  )
})

test('the first and last address of each IPv4 range are inside, their neighbours are judged on their own', () => {
  for (const [first, last] of IPV4_RANGES) {
    assert.equal(isPublicAddress(dotted(first)), false, dotted(first))
    assert.equal(isPublicAddress(dotted(last)), false, dotted(last))
  }
})

test('no IPv6 form that carries an IPv4 address inside is public, whatever it carries', () => {
  const wrappings = (a: number, b: number): string[] => {
    const [high, low] = [(a << 8) | b, (b << 8) | a].map((group) => group.toString(16))
    const inner = `${high}:${low}`
    return [
      `::${inner}`,
      `::ffff:${inner}`,
      `64:ff9b::${inner}`,
      `64:ff9b:1::${inner}`,
      `2002:${inner}::`,
      `2001:0:${inner}::`,
    ]
  }
  fc.assert(
    fc.property(fc.nat({ max: 255 }), fc.nat({ max: 255 }), (a, b) => {
      for (const address of wrappings(a, b)) assert.equal(isPublicAddress(address), false, address)
    }),
  )
})

test('each IPv6 address is judged as its bits say, however it is written', () => {
  const groups = fc.array(fc.nat({ max: 0xffff }), { minLength: 8, maxLength: 8 })
  const leading = fc.oneof(
    fc.nat({ max: 0xffff }),
    fc.constantFrom(0, 0x64, 0x2001, 0x2002, 0x3fff, 0xfc00, 0xfe80, 0xff02),
  )
  fc.assert(
    fc.property(leading, groups, fc.boolean(), (first, rest, padded) => {
      const all = [first, ...rest.slice(1)]
      const text = all.map((group) => group.toString(16).padStart(padded ? 4 : 1, '0')).join(':')
      assert.equal(isPublicAddress(text), expectedPublic6(all), text)
      assert.equal(isPublicAddress(text.toUpperCase()), expectedPublic6(all), text)
    }),
    { numRuns: 2_000 },
  )
})

test('loopback is 127.0.0.0/8 and ::1, and nothing that merely contains them', () => {
  for (const yes of [
    '127.0.0.1',
    '127.255.255.254',
    '::1',
    '0:0:0:0:0:0:0:1',
    '0000:0000:0000:0000:0000:0000:0000:0001',
  ]) {
    assert.equal(isLoopbackAddress(yes), true, yes)
  }
  for (const no of [
    '126.0.0.1',
    '128.0.0.1',
    '::',
    '::2',
    '::ffff:127.0.0.1',
    '::127.0.0.1',
    '127.0.0.1.evil',
    'localhost',
  ]) {
    assert.equal(isLoopbackAddress(no), false, no)
  }
})

/** Written out by hand from the registry, apart from the table under test. */
const IPV4_RANGES: readonly (readonly [number, number])[] = [
  [0x0000_0000, 0x00ff_ffff],
  [0x0a00_0000, 0x0aff_ffff],
  [0x6440_0000, 0x647f_ffff],
  [0x7f00_0000, 0x7fff_ffff],
  [0xa83f_8110, 0xa83f_8110],
  [0xa9fe_0000, 0xa9fe_ffff],
  [0xac10_0000, 0xac1f_ffff],
  [0xc000_0000, 0xc000_00ff],
  [0xc000_0200, 0xc000_02ff],
  [0xc01f_c400, 0xc01f_c4ff],
  [0xc034_c100, 0xc034_c1ff],
  [0xc058_6300, 0xc058_63ff],
  [0xc0a8_0000, 0xc0a8_ffff],
  [0xc0af_3000, 0xc0af_30ff],
  [0xc612_0000, 0xc613_ffff],
  [0xc633_6400, 0xc633_64ff],
  [0xcb00_7100, 0xcb00_71ff],
  [0xe000_0000, 0xffff_ffff],
]

function dotted(number: number): string {
  return [24, 16, 8, 0].map((shift) => (number >>> shift) & 0xff).join('.')
}

function expectedPublic6([a = 0, b = 0, c = 0]: readonly number[]): boolean {
  if (a < 0x2000 || a > 0x3fff || a === 0x2002) return false
  if (a === 0x2001 && (b < 0x0200 || b === 0x0db8)) return false
  if (a === 0x2620 && b === 0x004f && c === 0x8000) return false
  return !(a === 0x3fff && b < 0x1000)
}

function words(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '')
}
