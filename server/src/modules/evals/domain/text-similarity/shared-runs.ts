import { Symbols } from './symbols.ts'

/** Runs of one length (n-grams): those of each text, and those both have, each counted as often as in the poorer text. */
export interface SharedRuns {
  input: number
  reference: number
  shared: number
}

/** Counts the runs of 1 up to `longest` words. */
export function sharedRuns(input: readonly string[], reference: readonly string[], longest: number): SharedRuns[] {
  const symbols = new Symbols<string>()
  const referenceWords = symbols.number(reference)
  const inputWords = symbols.number(input)
  let referenceRuns = referenceWords
  let inputRuns = inputWords
  const counted: SharedRuns[] = []
  for (let length = 1; length <= longest; length++) {
    if (length > 1) {
      const lengthened = lengthen(referenceRuns, inputRuns, referenceWords, inputWords, length, symbols.size)
      referenceRuns = lengthened.reference
      inputRuns = lengthened.input
    }
    counted.push({
      input: inputRuns.length,
      reference: referenceRuns.length,
      shared: countShared(inputRuns, referenceRuns),
    })
  }
  return counted
}

/** A run of the input that the reference does not have. No longer run that starts with it can be shared either. */
const ABSENT = -1

function lengthen(
  reference: Int32Array,
  input: Int32Array,
  referenceWords: Int32Array,
  inputWords: Int32Array,
  length: number,
  words: number,
): { reference: Int32Array; input: Int32Array } {
  const numbers = new Map<number, number>()
  const key = (runs: Int32Array, of: Int32Array, index: number): number =>
    at(runs, index) * words + at(of, index + length - 1)
  const longerReference = new Int32Array(Math.max(0, referenceWords.length - length + 1))
  for (let index = 0; index < longerReference.length; index++) {
    const run = key(reference, referenceWords, index)
    const known = numbers.get(run)
    longerReference[index] = known ?? numbers.size
    if (known === undefined) numbers.set(run, numbers.size)
  }
  const longerInput = new Int32Array(Math.max(0, inputWords.length - length + 1))
  for (let index = 0; index < longerInput.length; index++) {
    const started = at(input, index) !== ABSENT
    longerInput[index] = started ? (numbers.get(key(input, inputWords, index)) ?? ABSENT) : ABSENT
  }
  return { reference: longerReference, input: longerInput }
}

function countShared(input: Int32Array, reference: Int32Array): number {
  const left = new Int32Array(input.length + reference.length + 1)
  for (const run of reference) left[run] = at(left, run) + 1
  let shared = 0
  for (const run of input) {
    if (run === ABSENT || at(left, run) === 0) continue
    left[run] = at(left, run) - 1
    shared++
  }
  return shared
}

/** Every index here is within its array. */
function at(array: Int32Array, index: number): number {
  return array[index] as number
}
