import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { similarityMetrics, type SimilarityMetric } from '@switchyard/contracts/evals/graders.ts'
import fc from 'fast-check'
import { RowError } from '../row-error.ts'
import { similarity } from './similarity.ts'
import { comparisonsMax, textUnitsMax, textWordsMax } from './text-bounds.ts'

interface Published {
  vectors: {
    metric: SimilarityMetric
    source: string
    input: string
    reference: string
    expected: number
    tolerance: number
  }[]
}

interface Computed {
  vectors: { input: string; reference: string; expected: Record<SimilarityMetric, number> }[]
}

const COMPUTED = ['english', 'unicode', 'edges', 'repeats']
/** The sums of logarithms differ in the last bits, and the vectors have twelve digits. */
const TOLERANCE = 1e-9

function readVectors(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`vectors/${name}.json`, import.meta.url), 'utf8'))
}

test('each score is the one that the authors of the metric published', () => {
  const { vectors } = readVectors('published') as Published
  assert.ok(vectors.length > 40)
  for (const { metric, source, input, reference, expected, tolerance } of vectors) {
    const score = similarity(metric, input, reference)
    assert.ok(Math.abs(score - expected) <= tolerance, `${source}: ${score} instead of ${expected}`)
  }
})

test('every metric scores as its reference package does, whatever the language', () => {
  const vectors = COMPUTED.flatMap((name) => (readVectors(`computed-${name}`) as Computed).vectors)
  assert.ok(vectors.length >= 200)
  for (const metric of similarityMetrics) {
    for (const { input, reference, expected } of vectors) {
      const score = similarity(metric, input, reference)
      const shown = `${metric} of ${JSON.stringify([input, reference])}: ${score} instead of ${expected[metric]}`
      assert.ok(Math.abs(score - expected[metric]) <= TOLERANCE, shown)
    }
  }
})

const someText = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 80 }),
  fc
    .array(fc.constantFrom('go', 'going', 'Go', 'stop', '.', ',', '3.5', 'é', '😀', '\n'), { maxLength: 60 })
    .map((all) => all.join(' ')),
)

test('any two texts have a score from 0 to 1', () => {
  fc.assert(
    fc.property(fc.constantFrom(...similarityMetrics), someText, someText, (metric, input, reference) => {
      const score = similarity(metric, input, reference)
      assert.ok(score >= 0 && score <= 1, String(score))
    }),
    { numRuns: 500 },
  )
})

test('a text is fully like itself, but for METEOR, which takes something off each stretch', () => {
  fc.assert(
    fc.property(fc.array(fc.stringMatching(/^[a-z]{1,6}$/), { minLength: 1, maxLength: 40 }), (words) => {
      const text = words.join(' ')
      for (const metric of similarityMetrics) {
        if (metric === 'meteor') continue
        const needed = /^rouge_[1-5]$/.test(metric) ? Number(metric.at(-1)) : 1
        const score = similarity(metric, text, text)
        assert.ok(Math.abs(score - (words.length < needed ? 0 : 1)) < TOLERANCE, `${metric} ${score}`)
      }
      assert.ok(Math.abs(similarity('meteor', text, text) - (1 - 0.5 / words.length ** 3)) < TOLERANCE)
    }),
  )
})

test('which text is the reference matters to BLEU and METEOR alone', () => {
  const symmetric = similarityMetrics.filter((metric) => metric !== 'bleu' && metric !== 'meteor')
  fc.assert(
    fc.property(fc.constantFrom(...symmetric), someText, someText, (metric, input, reference) => {
      assert.ok(Math.abs(similarity(metric, input, reference) - similarity(metric, reference, input)) < TOLERANCE)
    }),
    { numRuns: 300 },
  )
})

function refusal(metric: SimilarityMetric, input: string, reference: string): RowError {
  try {
    similarity(metric, input, reference)
  } catch (error) {
    if (error instanceof RowError) return error
    throw error
  }
  throw new Error(`${metric} took texts of ${input.length} and ${reference.length} characters`)
}

test('a text that would hold up other rows is refused with its length and the bound', () => {
  const longText = refusal('cosine', 'x'.repeat(textUnitsMax + 1), 'x')
  assert.equal(longText.code, 'text_too_long')
  assert.match(longText.message, /^The input has 200001 characters; .* at most 200000\. Shorten/)

  const manyWords = '. '.repeat(textWordsMax + 1)
  for (const metric of ['bleu', 'gleu', 'meteor'] as const) {
    assert.match(refusal(metric, 'a', manyWords).message, /20001 words; this metric takes at most 20000/)
  }
  for (const metric of ['cosine', 'rouge_1', 'rouge_l'] as const) {
    assert.equal(refusal(metric, 'a '.repeat(textWordsMax + 1), 'b').code, 'text_too_long')
  }

  const side = Math.floor(Math.sqrt(comparisonsMax)) + 1
  assert.match(refusal('fuzzy_match', 'a'.repeat(side), 'b'.repeat(side)).message, /20001 and 20001 characters/)
  assert.equal(similarity('fuzzy_match', 'a'.repeat(side), 'a'.repeat(side)), 1)
})
