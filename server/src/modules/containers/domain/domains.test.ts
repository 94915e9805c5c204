import fc from 'fast-check'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { domainMatches, isWithin, plainDomain } from './domains.ts'

test('names are compared without case and without the dot of the root', () => {
  assert.equal(plainDomain('API.Example.COM.'), 'api.example.com')
  assert.ok(domainMatches('Example.com', 'example.COM.'))
})

// S1-2.2-b
test('an entry means itself; a pattern means what is below it and never its apex', () => {
  const cases: [string, string, boolean][] = [
    ['example.com', 'example.com', true],
    ['example.com', 'www.example.com', false],
    ['example.com', 'notexample.com', false],
    ['*.example.com', 'www.example.com', true],
    ['*.example.com', 'a.b.example.com', true],
    ['*.example.com', 'example.com', false],
    ['*.example.com', 'notexample.com', false],
    ['*.example.com', '.example.com', false],
    ['example.com', 'example.com.evil.test', false],
  ]
  for (const [entry, host, expected] of cases) assert.equal(domainMatches(entry, host), expected, `${entry} ${host}`)
})

// S1-8.2-a S1-8.2-b
test('a request can only narrow what its organisation allows', () => {
  const cases: [string[], string, boolean][] = [
    [[], 'example.com', false],
    [['example.com'], 'EXAMPLE.com.', true],
    [['example.com'], 'www.example.com', false],
    [['example.com'], '*.example.com', false],
    [['*.example.com'], 'www.example.com', true],
    [['*.example.com'], '*.example.com', true],
    [['*.example.com'], '*.api.example.com', true],
    [['*.example.com'], 'example.com', false],
    [['*.api.example.com'], '*.example.com', false],
    [['*.example.com'], '*.com', false],
    [['other.test', '*.example.com'], 'a.example.com', true],
  ]
  for (const [listed, asked, expected] of cases)
    assert.equal(isWithin(listed, asked), expected, `${listed.join()} ∋ ${asked}`)
})

const label = fc.constantFrom('a', 'b', 'example', 'com', 'org')
const host = fc.array(label, { minLength: 1, maxLength: 4 }).map((labels) => labels.join('.'))
const entry = fc.tuple(fc.boolean(), host).map(([pattern, name]) => (pattern ? `*.${name}` : name))

test('whatever an accepted entry reaches, the organisation allows', () => {
  fc.assert(
    fc.property(fc.array(entry, { maxLength: 4 }), entry, host, (organization, asked, name) => {
      if (!isWithin(organization, asked) || !domainMatches(asked, name)) return
      assert.ok(
        organization.some((listed) => domainMatches(listed, name)),
        `${organization.join()} ${asked} ${name}`,
      )
    }),
    { numRuns: 2_000 },
  )
})
