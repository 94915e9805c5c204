import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { evaluate, FormulaError, parseFormula } from './formula.ts'

const scores = new Map([
  ['a', 2],
  ['b', 3],
  ['text_similarity_1', 0.5],
])
const result = (text: string) => evaluate(parseFormula(text), scores)

test('a formula follows the rules of arithmetic', () => {
  const cases: Record<string, number> = {
    '1 + 2 * 3': 7,
    '(1 + 2) * 3': 9,
    '2 ** 3 ** 2': 512,
    '-a ** 2': -4,
    '2 ** -1': 0.5,
    '2^3^2': 512,
    '-a ^ 2': -4,
    'b * a^-1': 1.5,
    '2 ^ 3 ** 2': 512,
    '10 - 4 - 3': 3,
    '16 / 4 / 2': 2,
    '--a': 2,
    '1 - -a': 3,
    '.5 + 1. + 1e2 + 2.5E-1': 101.75,
    'a*b': 6,
    '0.5*a+0.5*text_similarity_1': 1.25,
    'min(a, b, 1)': 1,
    'max(a)': 2,
    'abs(a - b)': 1,
    'floor(2.7) + ceil(2.1)': 5,
    'exp(0) + log(1) + sqrt(b * 3)': 4,
    '  a  ': 2,
  }
  for (const [text, expected] of Object.entries(cases)) assert.equal(result(text), expected, text)
})

test('a formula names the graders that it needs', () => {
  assert.deepEqual(parseFormula('max(a, b) + a * c').names, ['a', 'b', 'c'])
})

test('what is not arithmetic is refused', () => {
  const texts = [
    '',
    '+',
    'a +',
    'a b',
    '(a',
    'a)',
    'min',
    'min()',
    'abs(a, b)',
    'min(a,)',
    'a = 1',
    'a; b',
    'a.constructor',
    '"a"',
    'a[0]',
    'eval(a)',
    '`a`',
    '1 % 2',
    'a if b else 1',
    '__import__("os")',
    '1_000',
    '0x10',
    'process.exit()',
  ]
  for (const text of texts) assert.throws(() => parseFormula(text), FormulaError, text)
})

test('names that every object has are unknown graders', () => {
  for (const name of ['constructor', '__proto__', 'toString', 'Infinity', 'NaN']) {
    assert.throws(() => result(name), /there is no grader/, name)
  }
})

test('a formula that comes to no number says so', () => {
  for (const text of ['1 / 0', 'log(0 - 1)', 'sqrt(0 - 1)', '10 ** 400', '0 / 0']) {
    assert.throws(() => result(text), /does not come to a number/, text)
  }
})

test('length and depth are bounded', () => {
  assert.equal(result(`${'('.repeat(40)}1${')'.repeat(40)}`), 1)
  assert.throws(() => parseFormula(`${'('.repeat(60)}1${')'.repeat(60)}`), /nested/)
  assert.throws(() => parseFormula('1**'.repeat(60) + '1'), /nested/)
  assert.throws(() => parseFormula('1+'.repeat(300) + '1'), /more than 500 parts/)
  assert.throws(() => parseFormula(`min(${'1,'.repeat(40)}1)`), FormulaError)
})

test('whatever is written, a formula is a finite number or refused', () => {
  const piece = fc.constantFrom('a', 'b', '1', '0', '.5', '+', '-', '*', '/', '**', '(', ')', ',', 'min', 'exp', ' ')
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(piece, { maxLength: 30 }).map((parts) => parts.join('')),
      ),
      (text) => {
        try {
          assert.ok(Number.isFinite(result(text)))
        } catch (error) {
          assert.ok(error instanceof FormulaError, String(error))
        }
      },
    ),
    { numRuns: 2_000 },
  )
})
