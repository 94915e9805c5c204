import { commonSubsequence } from './common-subsequence.ts'
import { sharedRuns } from './shared-runs.ts'
import { Symbols } from './symbols.ts'
import { refuseManyWords } from './text-bounds.ts'

/** F1 of ROUGE-N as in rouge-score, without stemming. */
export function rougeN(input: string, reference: string, length: number): number {
  const counted = sharedRuns(words(input), words(reference), length).at(-1)
  return counted === undefined ? 0 : f1(counted.shared, counted.input, counted.reference)
}

/** F1 of ROUGE-L as in rouge-score, without stemming: the longest common subsequence of words over the whole text. */
export function rougeL(input: string, reference: string): number {
  const symbols = new Symbols<string>()
  const left = symbols.number(words(input))
  const right = symbols.number(words(reference))
  return f1(commonSubsequence(left, right, symbols.size), left.length, right.length)
}

/** The tokenizer of rouge-score: lower case, and everything but a-z and 0-9 divides words. */
function words(text: string): string[] {
  const found = text.toLowerCase().match(/[a-z0-9]+/g) ?? []
  refuseManyWords(found)
  return found
}

function f1(shared: number, input: number, reference: number): number {
  return shared === 0 ? 0 : (2 * shared) / (input + reference)
}
