import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { checklistIds, fallen, moduleOf, seedReport } from './seeds.ts'

const MODULES = { 'S1-2.8': 'evals', 'S1-2.8-al': 'files', 'S1-4.4': 'files', S2: 'ads' }
const IDS = ['S1-2.8-a', 'S1-2.8-aa', 'S1-2.8-al', 'S1-4.4-a', 'S2-5']

test('every statement of the checklist has a module', () => {
  const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8')
  const ids = checklistIds(read('../docs/seed-checklist.md'))
  assert.equal(ids.length, 468)
  assert.equal(new Set(ids).size, 468)
  const modules = JSON.parse(read('./seeds-modules.json')) as Record<string, string>
  assert.deepEqual(seedReport(ids, modules, new Map()).homeless, [])
})

test('the nearest entry decides the module of a statement', () => {
  assert.deepEqual(
    IDS.map((id) => moduleOf(id, MODULES)),
    ['evals', 'evals', 'files', 'files', 'ads'],
  )
  assert.equal(moduleOf('S1-2.80-a', MODULES), null)
})

test('ids in names and comments count once each, and look-alikes do not count', () => {
  const tests = new Map([
    ['a.test.ts', "// S1-4.4-a, S1-4.4-a\ntest('S1-2.8-aa: a run counts', () => {})\n// S3-compatible, XS2-5, S2-5x\n"],
    ['b.test.ts', "test('shown (S1-2.8-al)', () => {})\n"],
  ])
  assert.deepEqual(seedReport(IDS, MODULES, tests), {
    modules: [
      { module: 'ads', total: 1, uncited: ['S2-5'] },
      { module: 'evals', total: 2, uncited: ['S1-2.8-a'] },
      { module: 'files', total: 2, uncited: [] },
    ],
    unknown: [],
    homeless: [],
  })
})

test('an id that the checklist does not hold is named with the file that cites it', () => {
  const report = seedReport(IDS, MODULES, new Map([['a.test.ts', '// S1-4.4-z and S9-1']]))
  assert.deepEqual(report.unknown, [{ id: 'S1-4.4-z', path: 'a.test.ts' }])
})

test('a number that falls is reported, one that rises is not', () => {
  const report = seedReport(IDS, MODULES, new Map([['a.test.ts', '// S2-5 S1-4.4-a']]))
  assert.deepEqual(fallen(report, { ads: 1, files: 1, evals: 0 }), [])
  assert.deepEqual(fallen(report, { ads: 0, files: 2, gone: 1 }), [
    'files: 1 cited, 2 before',
    'gone: 0 cited, 1 before',
  ])
})
