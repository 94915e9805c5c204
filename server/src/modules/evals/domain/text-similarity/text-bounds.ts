import { RowError } from '../row-error.ts'

/** UTF-16 units of one text. Holds the time to split it into words. */
export const textUnitsMax = 200_000
/** Words and marks of one text. Holds the time to count runs of them. */
export const textWordsMax = 20_000
/** Length of one text times length of the other, where each element is held against each. Words never reach it. */
export const comparisonsMax = 400_000_000

export function refuseLongText(name: 'input' | 'reference', text: string): void {
  if (text.length <= textUnitsMax) return
  throw tooLong(`The ${name} has ${text.length} characters; similarity is computed for at most ${textUnitsMax}.`)
}

export function refuseManyWords(words: readonly string[]): void {
  if (words.length <= textWordsMax) return
  throw tooLong(`A text has ${words.length} words; this metric takes at most ${textWordsMax}.`)
}

export function refuseManyComparisons(inputLength: number, referenceLength: number): void {
  if (inputLength * referenceLength <= comparisonsMax) return
  throw tooLong(
    `The texts differ over ${inputLength} and ${referenceLength} characters; ` +
      `this metric takes at most ${comparisonsMax} for the product of the two.`,
  )
}

function tooLong(message: string): RowError {
  return new RowError('text_too_long', `${message} Shorten the texts or use another metric.`)
}
