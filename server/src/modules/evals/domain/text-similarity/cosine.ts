import { refuseManyWords } from './text-bounds.ts'

/** Cosine of the angle between the word counts of two texts. Words are runs of letters, marks, digits and `_`. */
export function cosine(input: string, reference: string): number {
  const left = countWords(input)
  const right = countWords(reference)
  let product = 0
  for (const [word, count] of left) product += count * (right.get(word) ?? 0)
  return product === 0 ? 0 : product / Math.sqrt(squares(left) * squares(right))
}

function countWords(text: string): Map<string, number> {
  const words = text.toLowerCase().match(/[\p{L}\p{M}\p{N}_]+/gu) ?? []
  refuseManyWords(words)
  const counts = new Map<string, number>()
  for (const word of words) counts.set(word, (counts.get(word) ?? 0) + 1)
  return counts
}

function squares(counts: ReadonlyMap<string, number>): number {
  let sum = 0
  for (const count of counts.values()) sum += count * count
  return sum
}
