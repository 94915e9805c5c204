import assert from 'node:assert/strict'
import test from 'node:test'
import { AllowedDomain } from './container-network-policy.ts'

const takes = (text: string) => AllowedDomain.safeParse(text).success

test('lower-case host names, punycode and wildcards before a whole name are taken', () => {
  for (const domain of [
    'example.com',
    'a.b.c.example.com',
    '*.example.com',
    'xn--bcher-kva.example',
    'example.xn--p1ai',
    '1and1.com',
    'a-b.example.com',
    `${'a'.repeat(63)}.com`,
    `${'a.'.repeat(125)}com`,
    `*.${'a.'.repeat(125)}com`,
  ])
    assert.ok(takes(domain), domain)
})

test('schemes, ports, paths, addresses, capitals, bare labels and odd wildcards are refused', () => {
  for (const domain of [
    '',
    'localhost',
    'Example.com',
    'https://example.com',
    'example.com:443',
    'example.com/path',
    'example.com.',
    '.example.com',
    'user@example.com',
    '127.0.0.1',
    '1.2.3.4',
    '0x7f.1',
    '[::1]',
    '::1',
    '*',
    '*.com',
    '*example.com',
    'a.*.com',
    '**.example.com',
    '-a.example.com',
    'a-.example.com',
    'a..example.com',
    'exa mple.com',
    'exämple.com',
    'a_b.example.com',
    `${'a'.repeat(64)}.com`,
    `${'a.'.repeat(127)}com`,
    `${'a.'.repeat(125)}comm`,
    'example.com\n',
  ])
    assert.ok(!takes(domain), JSON.stringify(domain))
})

test('a hostile text is refused in no time', () => {
  const startedAt = performance.now()
  for (let round = 0; round < 1_000; round += 1) takes(`${'a-'.repeat(126)}!`)
  assert.ok(performance.now() - startedAt < 1_000)
})
