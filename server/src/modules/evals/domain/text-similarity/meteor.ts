import { porterStem } from './porter-stemmer.ts'
import { tokenize13a } from './tokenize-13a.ts'

/** The weights of Lavie and Agarwal (2007), which NLTK takes when told nothing else. */
const RECALL_WEIGHT = 0.9
const PENALTY_POWER = 3
const PENALTY_MAX = 0.5

interface Word {
  position: number
  word: string
}

/** Positions in the input and in the reference. */
type Pair = [input: number, reference: number]

/** NLTK `single_meteor_score` over lower-cased words of tokenizer 13a, matched exactly and by stem, not by synonym. */
export function meteor(input: string, reference: string): number {
  const inputWords = numbered(input)
  const referenceWords = numbered(reference)
  const exact = pairWords(inputWords, referenceWords)
  const stemmed = pairWords(exact.input.map(stemmedWord), exact.reference.map(stemmedWord))
  const pairs = [...exact.pairs, ...stemmed.pairs].sort((one, other) => one[0] - other[0])
  if (pairs.length === 0) return 0

  const precision = pairs.length / inputWords.length
  const recall = pairs.length / referenceWords.length
  const mean = (precision * recall) / (RECALL_WEIGHT * precision + (1 - RECALL_WEIGHT) * recall)
  return (1 - PENALTY_MAX * (countChunks(pairs) / pairs.length) ** PENALTY_POWER) * mean
}

function numbered(text: string): Word[] {
  return tokenize13a(text).map((word, position) => ({ position, word: word.toLowerCase() }))
}

function stemmedWord({ position, word }: Word): Word {
  return { position, word: porterStem(word) }
}

/** From the end, each word of the input takes the last equal word of the reference that is still free. */
function pairWords(input: Word[], reference: Word[]): { pairs: Pair[]; input: Word[]; reference: Word[] } {
  const free = new Map<string, number[]>()
  for (const { word, position } of reference) {
    const positions = free.get(word)
    if (positions === undefined) free.set(word, [position])
    else positions.push(position)
  }
  const pairs: Pair[] = []
  const unpaired: Word[] = []
  for (const word of input.toReversed()) {
    const position = free.get(word.word)?.pop()
    if (position === undefined) unpaired.push(word)
    else pairs.push([word.position, position])
  }
  const taken = new Set(pairs.map(([, position]) => position))
  return { pairs, input: unpaired.reverse(), reference: reference.filter(({ position }) => !taken.has(position)) }
}

/** Stretches of pairs that lie side by side in both texts. */
function countChunks(pairs: readonly Pair[]): number {
  let chunks = 0
  let [lastInput, lastReference]: Pair = [-2, -2]
  for (const [input, reference] of pairs) {
    if (input !== lastInput + 1 || reference !== lastReference + 1) chunks++
    lastInput = input
    lastReference = reference
  }
  return chunks
}
