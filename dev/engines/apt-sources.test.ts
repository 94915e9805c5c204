import assert from 'node:assert/strict'
import test from 'node:test'
import { distributionSources, formatSources, parseOneLineSources, parseStanzaSources } from './apt-sources.ts'

const LIST = `
# a comment
deb http://mirror.example/debian bookworm main contrib # trailing words
deb [arch=amd64 signed-by=/usr/share/keyrings/mirror.gpg] http://mirror.example/security bookworm-security main
deb-src http://mirror.example/debian bookworm main
deb http://third.example/apt stable main
`

const STANZAS = `\
Types: deb deb-src
# where this came from
URIs: http://mirror.example/debian
Suites: bookworm bookworm-updates
Components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 bWlycm9y
 -----END PGP PUBLIC KEY BLOCK-----

Enabled: no
Types: deb
URIs: http://off.example/debian
Suites: bookworm
Components: main

Types: deb
URIs: http://third.example/apt
Suites: nodistro
Components: main
`

test('the mirror and key of a one-line source are used for the backports too', () => {
  const sources = distributionSources(parseOneLineSources(LIST), 'bookworm')
  assert.equal(
    formatSources(sources),
    `\
types: deb
uris: http://mirror.example/debian
suites: bookworm
components: main contrib

types: deb
uris: http://mirror.example/security
suites: bookworm-security
components: main
signed-by: /usr/share/keyrings/mirror.gpg

types: deb
uris: http://mirror.example/debian
suites: bookworm-backports
components: main contrib
`,
  )
})

test('stanzas keep an embedded key; disabled and foreign sources are left out', () => {
  const sources = distributionSources(parseStanzaSources(STANZAS), 'bookworm')
  assert.deepEqual(
    sources.map((source) => [source.get('uris'), source.get('suites'), source.get('types')]),
    [
      ['http://mirror.example/debian', 'bookworm bookworm-updates', 'deb'],
      ['http://mirror.example/debian', 'bookworm-backports', 'deb'],
    ],
  )
  assert.match(formatSources(sources), /signed-by: -----BEGIN PGP PUBLIC KEY BLOCK-----\n \.\n bWlycm9y\n/)
})

test('backports that a machine already has are not added again', () => {
  const sources = parseOneLineSources(`${LIST}deb http://other.example/debian bookworm-backports main\n`)
  const suites = distributionSources(sources, 'bookworm').map((source) => source.get('suites'))
  assert.deepEqual(suites, ['bookworm', 'bookworm-security', 'bookworm-backports'])
})
