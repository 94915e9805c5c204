import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { standardBook } from '../domain/limits-book.ts'
import { loadBook } from './load-book.ts'

test('without a file the standard numbers hold; a file that cannot be used stops the start and says why', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-limits-'))
  t.after(() => rm(folder, { recursive: true, force: true }))
  const file = join(folder, 'limits.yaml')
  assert.equal(loadBook(null, []), standardBook)
  assert.throws(() => loadBook(file, []), /SWITCHYARD_LIMITS: the file cannot be read \(ENOENT\)/)
  await writeFile(file, 'tiers: [')
  assert.throws(() => loadBook(file, []), /SWITCHYARD_LIMITS: the file is not YAML: .*line 1/)
  await writeFile(file, 'tiers: { tier_1: { monthly: -1 } }\nfamilies: 4\n')
  assert.throws(
    () => loadBook(file, []),
    /SWITCHYARD_LIMITS: tiers\.tier_1\.monthly: .*\n.*SWITCHYARD_LIMITS: families: /,
  )
  await writeFile(file, 'tiers: { tier_1: { monthly: 120 } }\n')
  assert.equal(loadBook(file, []).tiers.tier_1.monthlyCents, 12_000)
})
