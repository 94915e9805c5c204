import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { splitLines, type RawLine } from './split-lines.ts'

async function* cut(whole: Buffer, sizes: readonly number[]): AsyncGenerator<Buffer> {
  let at = 0
  for (let turn = 0; at < whole.length; turn += 1) {
    const size = sizes[turn % sizes.length] ?? 1
    yield whole.subarray(at, at + size)
    at += size
  }
}

async function linesOf(whole: Buffer, sizes: readonly number[], max = 1_000): Promise<RawLine[]> {
  const lines: RawLine[] = []
  for await (const line of splitLines(cut(whole, sizes), max)) lines.push(line)
  return lines
}

test('lines are found with their places, however the file arrives', async () => {
  const texts = fc.array(
    fc.string({ unit: 'grapheme', maxLength: 12 }).map((text) => text.replaceAll('\n', '')),
    {
      maxLength: 12,
    },
  )
  const sizes = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1, maxLength: 5 })
  await fc.assert(
    fc.asyncProperty(texts, sizes, fc.boolean(), async (given, by, ended) => {
      const whole = Buffer.from(given.join('\n') + (ended && given.length > 0 ? '\n' : ''))
      const lines = await linesOf(whole, by)
      const expected = whole.length === 0 ? [] : whole.toString().replace(/\n$/, '').split('\n')
      if (whole.toString() === '') return assert.equal(lines.length, 0)
      const seen = lines.map(({ content }) => String(content))
      // A last line without any bytes is no line.
      assert.deepEqual(
        seen,
        whole.at(-1) === 0x0a ? expected : expected.filter((text, at) => text !== '' || at < expected.length - 1),
      )
      for (const [at, line] of lines.entries()) {
        assert.equal(line.n, at + 1)
        assert.deepEqual(whole.subarray(line.offset, line.offset + line.bytes), line.content)
      }
    }),
  )
})

test('a line beyond the bound is told by its length, and the next one is read as usual', async () => {
  const lines = await linesOf(Buffer.from(`${'x'.repeat(50)}\nshort\n`), [7], 20)
  assert.deepEqual(
    lines.map(({ n, bytes, content }) => [n, bytes, content === null ? null : String(content)]),
    [
      [1, 50, null],
      [2, 5, 'short'],
    ],
  )
})
