import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { porterStem } from './porter-stemmer.ts'

type Stems = [word: string, stem: string][]

function readVectors(name: string): unknown {
  return JSON.parse(readFileSync(new URL(`vectors/${name}.json`, import.meta.url), 'utf8'))
}

function wrongStems(stems: Stems): string[] {
  const wrong = stems.filter(([word, stem]) => porterStem(word) !== stem)
  return wrong.map(([word, stem]) => `${word}: ${porterStem(word)} instead of ${stem}`)
}

test('words have the stems that NLTK publishes', () => {
  const { stems } = readVectors('published') as { stems: { words: Stems } }
  assert.deepEqual(wrongStems(stems.words), [])
})

test('words of every rule and exception have the stems that NLTK finds', () => {
  const { vectors } = readVectors('stems') as { vectors: Stems }
  assert.ok(vectors.length > 1000)
  assert.deepEqual(wrongStems(vectors), [])
})

test('a word with characters of two units is left alone', () => {
  assert.equal(porterStem('😀ies'), '😀ies')
})
