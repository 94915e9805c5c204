import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { parse } from 'yaml'
import { scratch } from '../engines/testing/scratch.ts'
import { writeModels } from './write-models.ts'

const url = 'http://127.0.0.1:1/v1'

function namesIn(file: string): string[] {
  const { models } = parse(readFileSync(file, 'utf8')) as { models: { id: string; aliases?: string[] }[] }
  return models.flatMap(({ id, aliases = [] }) => [id, ...aliases])
}

test('the rehearsal model is alone without a models file, and comes last with one', (t) => {
  const { folder: dataDir } = scratch(t)
  assert.deepEqual(namesIn(writeModels({ dataDir, url, given: null })), ['rehearsal-2026-11-01', 'rehearsal'])
  const given = join(dataDir, 'theirs.yaml')
  writeFileSync(given, 'models:\n  - id: house-2026-01-01\n    aliases: [house]\n')
  assert.deepEqual(namesIn(writeModels({ dataDir, url, given })), [
    'house-2026-01-01',
    'house',
    'rehearsal-2026-11-01',
    'rehearsal',
  ])
})

test("a model of someone's own that is called rehearsal is used instead", (t) => {
  const { folder: dataDir } = scratch(t)
  const given = join(dataDir, 'theirs.yaml')
  writeFileSync(given, 'models:\n  - id: mine-2026-01-01\n    aliases: [rehearsal]\n')
  assert.deepEqual(namesIn(writeModels({ dataDir, url, given })), ['mine-2026-01-01', 'rehearsal'])
})

test('a file that cannot be read, is not YAML or lists no models is left to the server to complain about', (t) => {
  const { folder: dataDir } = scratch(t)
  for (const [name, text] of Object.entries({ 'a.yaml': 'models: [', 'b.yaml': 'model: x', 'c.yaml': '' })) {
    const given = join(dataDir, name)
    writeFileSync(given, text)
    assert.equal(writeModels({ dataDir, url, given }), given)
  }
  const absent = join(dataDir, 'absent.yaml')
  assert.equal(writeModels({ dataDir, url, given: absent }), absent)
})
