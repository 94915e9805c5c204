import fc from 'fast-check'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mentionsOf } from './file-mentions.ts'

const files = ['report.csv', 'report.csv.gz', 'a b.txt', 'sub/deep.txt', 'Grüße.txt'].map((name) => ({
  id: `cfile_${name}`,
  path: `/mnt/data/${name}`,
}))

const named = (text: string) =>
  mentionsOf(text, files).map(({ file, start, end }) => {
    assert.equal(text.slice(start, end), file.path)
    return file.path.slice('/mnt/data/'.length)
  })

test('a file is cited where a text names its whole path', () => {
  const cases: [string, string[]][] = [
    ['I wrote /mnt/data/report.csv.', ['report.csv']],
    ['See `/mnt/data/report.csv.gz`, not /mnt/data/report.csv!', ['report.csv.gz', 'report.csv']],
    ['[it](sandbox:/mnt/data/sub/deep.txt)', ['sub/deep.txt']],
    ['/mnt/data/a b.txt\n/mnt/data/Grüße.txt', ['a b.txt', 'Grüße.txt']],
    ['/mnt/data/report.csv /mnt/data/report.csv', ['report.csv', 'report.csv']],
    ['/mnt/data/report.csv2 and /mnt/data/report', []],
    ['/mnt/data/report.csv/x', []],
    ['report.csv and /mnt/data/', []],
    ['/mnt/data//mnt/data/report.csv', ['report.csv']],
  ]
  for (const [text, expected] of cases) assert.deepEqual(named(text), expected, text)
})

test('places are counted in UTF-16 code units, as JavaScript counts', () => {
  assert.deepEqual(
    mentionsOf('🎉 /mnt/data/report.csv', files).map(({ start, end }) => [start, end]),
    [[3, 23]],
  )
})

test('a text that names a file a thousand times is cited a hundred times', () => {
  assert.equal(mentionsOf('/mnt/data/report.csv '.repeat(1_000), files).length, 100)
})

test('whatever a text says, citations are in order, apart, and exactly where the path stands', () => {
  const word = fc.constantFrom(
    '/mnt/data/',
    'report.csv',
    '.gz',
    '.',
    ' ',
    'sub/',
    'deep.txt',
    '🎉',
    '/mnt/data/report.csv',
  )
  fc.assert(
    fc.property(fc.array(word, { maxLength: 30 }), (words) => {
      const text = words.join('')
      let from = 0
      for (const { file, start, end } of mentionsOf(text, files)) {
        assert.ok(start >= from && end > start)
        assert.equal(text.slice(start, end), file.path)
        from = end
      }
    }),
  )
})
