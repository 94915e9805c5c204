import fc from 'fast-check'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { freeFilename, safeFilename } from './file-names.ts'

test('a name is the last part of what was given, and leads nowhere', () => {
  const names: [string, string][] = [
    ['data.csv', 'data.csv'],
    ['a/b/data.csv', 'data.csv'],
    ['C:\\Users\\me\\data.csv', 'data.csv'],
    ['../../etc/passwd', 'passwd'],
    ['', 'file'],
    ['.', 'file'],
    ['..', 'file'],
    ['/', 'file'],
    ['a/..', 'file'],
    ['.hidden', '.hidden'],
    ['nul\0byte.txt', 'nulbyte.txt'],
    ['Grüße 🎉.txt', 'Grüße 🎉.txt'],
  ]
  for (const [given, expected] of names) assert.equal(safeFilename(given), expected, JSON.stringify(given))
})

test('a long name is cut to what a file system takes, between characters, and keeps its extension', () => {
  assert.equal(safeFilename(`${'x'.repeat(300)}.csv`), `${'x'.repeat(251)}.csv`)
  assert.equal(safeFilename(`${'é'.repeat(300)}.txt`), `${'é'.repeat(125)}.txt`)
  assert.equal(safeFilename('🎉'.repeat(100)), '🎉'.repeat(63))
  assert.equal(safeFilename(`a.${'b'.repeat(300)}`).length, 255)
})

test('whatever is given, the name is one part, not too long, and the same when given again', () => {
  const bad = new Set(['', '.', '..'])
  fc.assert(
    fc.property(
      fc.oneof(fc.string(), fc.string({ unit: 'grapheme', maxLength: 400 }), fc.stringMatching(/^[./\\]*$/)),
      (given) => {
        const name = safeFilename(given)
        assert.ok(!bad.has(name) && !/[/\0\\]/.test(name) && Buffer.byteLength(name) <= 255, JSON.stringify(name))
        assert.equal(safeFilename(name), name)
      },
    ),
  )
})

test('a name that is taken gets a number before its extension', () => {
  assert.equal(freeFilename('data.csv', new Set()), 'data.csv')
  assert.equal(freeFilename('data.csv', new Set(['data.csv'])), 'data-1.csv')
  assert.equal(freeFilename('data.csv', new Set(['data.csv', 'data-1.csv'])), 'data-2.csv')
  assert.equal(freeFilename('.env', new Set(['.env'])), '.env-1')
  assert.equal(freeFilename('x/Makefile', new Set(['Makefile'])), 'Makefile-1')
})

test('many files of one name all get one of their own', () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom('a', 'a-1', 'a.txt', 'a-1.txt', 'é'.repeat(200)), { maxLength: 30 }),
      (names) => {
        const taken = new Set<string>()
        for (const name of names) taken.add(freeFilename(name, taken))
        assert.equal(taken.size, names.length)
        for (const name of taken) assert.ok(Buffer.byteLength(name) <= 255)
      },
    ),
  )
})
