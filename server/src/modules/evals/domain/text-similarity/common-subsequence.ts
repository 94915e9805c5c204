import { refuseManyComparisons } from './text-bounds.ts'

/** One bit less than an integer of the engine, so that the carry of an addition is its sign. */
const BLOCK = 31
const FULL = 0x7fffffff

/**
 * Length of the longest common subsequence of two sequences of symbols, each 0 or more and less than `symbols`.
 *
 * Bit-parallel after Hyyrö (2004), 31 elements of `left` at a time. A block meets the whole of `right` before the next
 * one starts; the carries stay in one byte for each element of `right`, so memory is linear in the lengths.
 */
export function commonSubsequence(left: Int32Array, right: Int32Array, symbols: number): number {
  const start = commonStart(left, right)
  const end = commonEnd(left, right, start)
  const a = left.subarray(start, left.length - end)
  const b = right.subarray(start, right.length - end)
  refuseManyComparisons(a.length, b.length)
  const masks = new Int32Array(symbols)
  const carries = new Uint8Array(b.length)
  let common = start + end
  for (let from = 0; from < a.length; from += BLOCK) {
    const block = a.subarray(from, from + BLOCK)
    for (const [bit, symbol] of block.entries()) masks[symbol] = (masks[symbol] ?? 0) | (1 << bit)
    common += zeroBits(passBlock(masks, b, carries), block.length)
    for (const symbol of block) masks[symbol] = 0
  }
  return common
}

/** Every index is within its array, and a check of each would be paid a billion times. */
function passBlock(masks: Int32Array, right: Int32Array, carries: Uint8Array): number {
  let open = FULL
  for (let index = 0; index < right.length; index++) {
    const mask = masks[right[index] as number] as number
    const sum = (open + (open & mask) + (carries[index] as number)) | 0
    carries[index] = sum >>> 31
    open = (sum & FULL) | (open & ~mask)
  }
  return open
}

function zeroBits(bits: number, length: number): number {
  let zeros = 0
  for (let bit = 0; bit < length; bit++) if ((bits & (1 << bit)) === 0) zeros++
  return zeros
}

function commonStart(left: Int32Array, right: Int32Array): number {
  const most = Math.min(left.length, right.length)
  let length = 0
  while (length < most && left[length] === right[length]) length++
  return length
}

function commonEnd(left: Int32Array, right: Int32Array, start: number): number {
  const most = Math.min(left.length, right.length) - start
  let length = 0
  while (length < most && left[left.length - 1 - length] === right[right.length - 1 - length]) length++
  return length
}
