export interface PieceRange {
  readonly blob: string
  /** Inclusive, within the piece; null reads it whole. */
  readonly range: { start: number; end: number } | null
}

/** Which parts of which pieces make up a byte range (inclusive) of the whole. */
export function piecesInRange(
  pieces: readonly { blob: string; bytes: number }[],
  start: number,
  end: number,
): PieceRange[] {
  const chosen: PieceRange[] = []
  let offset = 0
  for (const { blob, bytes } of pieces) {
    const from = Math.max(start - offset, 0)
    const to = Math.min(end - offset, bytes - 1)
    if (bytes > 0 && from <= to)
      chosen.push({ blob, range: from === 0 && to === bytes - 1 ? null : { start: from, end: to } })
    offset += bytes
  }
  return chosen
}
