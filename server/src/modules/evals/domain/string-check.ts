import type { StringCheckOperation } from '@switchyard/contracts/evals/graders.ts'

/** Whether an output is, or holds, what was expected. */
export function stringCheck(operation: StringCheckOperation, input: string, reference: string): boolean {
  switch (operation) {
    case 'eq':
      return input === reference
    case 'ne':
      return input !== reference
    case 'like':
      return holds(input, reference)
    case 'ilike':
      return holds(input.toLowerCase(), reference.toLowerCase())
  }
}

/** Length of one text times length of the other, up to which the engine's own search is quick whatever they hold. */
const comparisonsMax = 10_000_000

/**
 * The engine's search looks at every letter for every other where texts repeat themselves: hours for two megabytes in four.
 * After Knuth, Morris and Pratt (1977) the time is linear in the lengths.
 */
function holds(text: string, part: string): boolean {
  if (text.length * part.length <= comparisonsMax) return text.includes(part)
  if (part.length > text.length) return false
  const borders = bordersOf(part)
  let matched = 0
  for (let at = 0; at < text.length; at += 1) {
    matched = extend(part, borders, matched, text.charCodeAt(at))
    if (matched === part.length) return true
  }
  return false
}

/** For each start of a text, how long the longest end of it is that the text starts with as well. */
function bordersOf(part: string): Int32Array {
  const borders = new Int32Array(part.length)
  let matched = 0
  for (let at = 1; at < part.length; at += 1) {
    matched = extend(part, borders, matched, part.charCodeAt(at))
    borders[at] = matched
  }
  return borders
}

function extend(part: string, borders: Int32Array, matched: number, unit: number): number {
  let length = matched
  while (length > 0 && part.charCodeAt(length) !== unit) length = borders[length - 1] as number
  return part.charCodeAt(length) === unit ? length + 1 : length
}
