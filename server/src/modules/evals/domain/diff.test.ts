import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { diffTexts, type DiffPart } from './diff.ts'

const same = (text: string): DiffPart => ({ kind: 'same', text })
const removed = (text: string): DiffPart => ({ kind: 'removed', text })
const added = (text: string): DiffPart => ({ kind: 'added', text })
const without = (parts: readonly DiffPart[], kind: DiffPart['kind']) =>
  parts.map((part) => (part.kind === kind ? '' : part.text)).join('')

test('a reader sees which words of the expected text are missing and what came instead', () => {
  assert.deepEqual(diffTexts('Hardware', 'Software'), [removed('Hardware'), added('Software')])
  assert.deepEqual(diffTexts('the quick brown fox', 'the slow brown fox jumps'), [
    same('the '),
    removed('quick'),
    added('slow'),
    same(' brown fox'),
    added(' jumps'),
  ])
  assert.deepEqual(diffTexts('4.', '4'), [same('4'), removed('.')])
  assert.deepEqual(diffTexts('{"a": 1}', '{"a": 2}'), [same('{"a": '), removed('1'), added('2'), same('}')])
})

test('texts that are the same have one part, and empty ones none', () => {
  assert.deepEqual(diffTexts('a b', 'a b'), [same('a b')])
  assert.deepEqual(diffTexts('', ''), [])
  assert.deepEqual(diffTexts('', 'a b'), [added('a b')])
  assert.deepEqual(diffTexts('a b', ''), [removed('a b')])
})

test('scripts without spaces are compared by letter', () => {
  assert.deepEqual(diffTexts('我喜欢猫', '我喜欢狗'), [same('我喜欢'), removed('猫'), added('狗')])
})

test('every diff gives both texts back, and no shorter list of changes exists', () => {
  const token = fc.constantFrom('a', 'b', 'c', ' ', '\n', '. ', '\ud83d\ude00', '\ud800', '\u0000', '\u2028')
  const text = fc.array(token, { maxLength: 24 }).map((tokens) => tokens.join(''))
  fc.assert(
    fc.property(text, text, (expected, got) => {
      const parts = diffTexts(expected, got) ?? []
      assert.equal(without(parts, 'added'), expected)
      assert.equal(without(parts, 'removed'), got)
      for (const [n, part] of parts.entries()) assert.notEqual(part.kind, parts[n + 1]?.kind)
    }),
    { numRuns: 500 },
  )
  const letter = fc.array(fc.constantFrom('.', ',', ';'), { maxLength: 16 })
  fc.assert(
    fc.property(letter, letter, (before, after) => {
      const parts = diffTexts(before.join(''), after.join('')) ?? []
      const kept = parts.filter((part) => part.kind === 'same').map((part) => part.text)
      assert.equal(kept.join('').length, longestCommon(before, after))
    }),
    { numRuns: 500 },
  )
})

/** By the textbook: the length of the longest common subsequence. */
function longestCommon(before: readonly string[], after: readonly string[]): number {
  let row = after.map(() => 0)
  for (const one of before) {
    const next: number[] = []
    for (const [n, other] of after.entries()) {
      next.push(one === other ? (row[n - 1] ?? 0) + 1 : Math.max(row[n] ?? 0, next[n - 1] ?? 0))
    }
    row = next
  }
  return row.at(-1) ?? 0
}

test('a text of many words is compared by lines', () => {
  const lines = Array.from({ length: 1_000 }, (_, n) => `line ${n} of a long text\n`)
  const changed = lines.with(500, 'another line\n')
  assert.deepEqual(diffTexts(lines.join(''), changed.join('')), [
    same(lines.slice(0, 500).join('')),
    removed('line 500 of a long text\n'),
    added('another line\n'),
    same(lines.slice(501).join('')),
  ])
})

test('texts that have nothing in common are shown as one replaced by the other, soon', () => {
  const words = (prefix: string) => Array.from({ length: 2_400 }, (_, n) => `${prefix}${n}`).join(' ')
  const began = performance.now()
  const parts = diffTexts(`start ${words('a')}`, `start ${words('b')}`) ?? []
  assert.deepEqual(
    parts.map((part) => part.kind),
    ['same', 'removed', 'added'],
  )
  assert.ok(performance.now() - began < 5_000)
})

test('texts that are too long are not compared, unless they are the same', () => {
  assert.equal(diffTexts('a', 'b'.repeat(200_001)), null)
  assert.equal(diffTexts('a\n'.repeat(5_001), 'b\n'.repeat(10)), null)
  const long = 'a '.repeat(500_000)
  assert.deepEqual(diffTexts(long, long), [same(long)])
})
