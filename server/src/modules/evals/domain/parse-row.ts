import type { Reason } from '../store/tables.ts'

/** Of one line or one element of the request. */
export const rowBytesMax = 4 * 1024 * 1024
export const rowDepthMax = 100
/** Small values take twenty times the memory that they take as text, and many rows are in memory at once. */
export const rowValuesMax = 20_000
const shownMax = 100

/** A row as it is to be graded, or why it cannot be. */
export type ParsedRow = SoundRow | { readonly error: Reason }

export interface SoundRow {
  readonly item: Record<string, unknown>
  readonly sample: Record<string, unknown> | null
  /** How a reason calls it: `Line 7`. */
  readonly name: string
}

const text = new TextDecoder('utf-8', { fatal: true })

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const wrongOf =
  (name: string) =>
  (why: string): ParsedRow => ({
    error: { code: 'invalid_row', message: `${name}: ${why}` },
  })

/** Reads one line of a test-data file. Reasons name the line, counted from 1. */
export function parseLine(content: Buffer | null, line: number): ParsedRow {
  const name = `Line ${line}`
  const wrong = wrongOf(name)
  if (content === null) return wrong(`it is longer than ${rowBytesMax} bytes.`)
  let value: unknown
  try {
    value = JSON.parse(text.decode(content))
  } catch (error) {
    return wrong(error instanceof SyntaxError ? 'it is not JSON.' : 'it is not JSON in UTF-8.')
  }
  return checkRow(value, name)
}

/** The same for a row that came as JSON already. */
export function checkRow(value: unknown, name: string): ParsedRow {
  const wrong = wrongOf(name)
  if (!isObject(value) || !Object.hasOwn(value, 'item')) return wrong("it is not an object with the key 'item'.")
  const { item, sample = null, ...others } = value
  const [stray] = Object.keys(others)
  if (stray !== undefined) return wrong(`it has the key ${JSON.stringify(stray.slice(0, shownMax))} beside 'item'.`)
  if (!isObject(item)) return wrong("the value of 'item' is not an object.")
  if (sample !== null && !isObject(sample)) return wrong("the value of 'sample' is not an object.")
  const bad = findBad(value, rowDepthMax, { values: rowValuesMax })
  return bad === null ? { item, sample, name } : wrong(bad)
}

/** JSON that could not be written again as it was, or that is more than one row may be. */
function findBad(value: unknown, depth: number, left: { values: number }): string | null {
  if (typeof value === 'number') return Number.isFinite(value) ? null : 'it has a number that is out of range.'
  if (typeof value !== 'object' || value === null) return null
  if (depth === 0) return `it is more than ${rowDepthMax} levels deep.`
  const inside = Object.values(value)
  left.values -= inside.length
  if (left.values < 0) return `it has more than ${rowValuesMax} values.`
  for (const inner of inside) {
    const bad = findBad(inner, depth - 1, left)
    if (bad !== null) return bad
  }
  return null
}
