import { commonSubsequence } from './common-subsequence.ts'
import { Symbols } from './symbols.ts'

/** rapidfuzz `fuzz.ratio` / 100 over code points, without preprocessing: 1 - (insertions + deletions) / both lengths. */
export function fuzzyMatch(input: string, reference: string): number {
  const symbols = new Symbols<number>()
  const left = symbols.number(codePoints(input))
  const right = symbols.number(codePoints(reference))
  const length = left.length + right.length
  if (length === 0) return 1
  const common = commonSubsequence(left, right, symbols.size)
  return 1 - (length - 2 * common) / length
}

function codePoints(text: string): number[] {
  const points: number[] = []
  for (let index = 0; index < text.length; index++) {
    const point = text.codePointAt(index) ?? 0
    if (point > 0xffff) index++
    points.push(point)
  }
  return points
}
