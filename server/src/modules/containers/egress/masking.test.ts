import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { createMask, inSameLength, maskedValues, maskText } from './masking.ts'

const secret = (name: string, value: string) => ({ name, value: Buffer.from(value) })

function maskChunks(chunks: readonly Buffer[], secrets: { name: string; value: Buffer }[], sameLength = false): Buffer {
  const mask = createMask(sameLength ? inSameLength(maskedValues(secrets)) : maskedValues(secrets))
  return Buffer.concat([...chunks.map((chunk) => mask.push(chunk)), mask.end()])
}

test('a value is shown as its placeholder', () => {
  const masked = maskedValues([secret('KEY', 'hunter2'), secret('LONG', 'hunter2222')])
  assert.equal(maskText('a hunter2 b hunter2222 hunter', masked), 'a $KEY b $LONG hunter')
  assert.equal(maskText('hunter2hunter2', masked), '$KEY$KEY')
  assert.equal(maskText('nothing', []), 'nothing')
})

test('a name that could make up the value again is not shown', () => {
  assert.equal(maskText('x AB y', maskedValues([secret('AB', 'AB')])), 'x *** y')
  assert.equal(maskText('[a$N]', maskedValues([secret('N', 'a$N')])), '[***]')
  assert.ok(!maskText('ExEx', maskedValues([secret('E', 'Ex')])).includes('Ex'))
})

test('an empty value masks nothing', () => {
  assert.equal(maskText('abc', maskedValues([secret('E', '')])), 'abc')
})

test('only a beginning of a value is kept back', () => {
  const mask = createMask(maskedValues([secret('KEY', 'hunter2')]))
  assert.equal(mask.push(Buffer.from('data: one\n\n')).toString(), 'data: one\n\n')
  assert.equal(mask.push(Buffer.from('data: hunt')).toString(), 'data: ')
  assert.equal(mask.push(Buffer.from('ing\n')).toString(), 'hunting\n')
  assert.equal(mask.push(Buffer.from('hunter')).toString(), '')
  assert.equal(mask.end().toString(), 'hunter')
})

const letters = fc.string({ unit: fc.constantFrom('a', 'b', '$', 'N', '*', '#'), minLength: 1, maxLength: 5 })
const secrets = fc.array(
  fc.record({ name: fc.constantFrom('N', 'aN', 'Nb', 'KEY'), value: letters.map((text) => Buffer.from(text)) }),
  { minLength: 1, maxLength: 3 },
)
const pieces = fc.array(fc.oneof(letters, fc.constantFrom('<v0>', '<v1>')), { maxLength: 30 })

test('no value comes out, however the stream is cut, and the cuts change nothing', () => {
  fc.assert(
    fc.property(
      secrets,
      pieces,
      fc.array(fc.nat({ max: 100 }), { maxLength: 12 }),
      fc.boolean(),
      (held, parts, cuts, same) => {
        const filled = parts.map((part) =>
          part.startsWith('<v') ? (held[Number(part[2])]?.value.toString() ?? '') : part,
        )
        const text = Buffer.from(filled.join(''))
        const borders = [0, ...cuts.map((cut) => Math.min(cut, text.length)).toSorted((a, b) => a - b), text.length]
        const chunks = borders.slice(1).map((border, at) => text.subarray(borders[at], border))
        const out = maskChunks(chunks, held, same)
        for (const { value } of held) assert.ok(!out.includes(value), `${value.toString()} in ${out.toString()}`)
        assert.deepEqual(out, maskChunks([text], held, same))
        if (same) assert.equal(out.length, text.length)
      },
    ),
    { numRuns: 5_000 },
  )
})

test('bytes that are no text pass unchanged', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 50 })), (chunks) => {
      const all = chunks.map((chunk) => Buffer.from(chunk))
      assert.deepEqual(maskChunks(all, [secret('KEY', 'a value that random bytes do not hold')]), Buffer.concat(all))
    }),
  )
})
