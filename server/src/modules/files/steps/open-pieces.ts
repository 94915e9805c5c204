import { Readable } from 'node:stream'
import type { Blobs } from '#platform/blobs/blobs.ts'
import { piecesInRange, type PieceRange } from '../domain/pieces.ts'

/** One stream over a byte range (inclusive) of the pieces. The first is opened before this returns, so a missing one is told in time. */
export async function openPieces(
  blobs: Blobs,
  pieces: readonly { blob: string; bytes: number }[],
  start: number,
  end: number,
): Promise<Readable> {
  const [first, ...rest] = piecesInRange(pieces, start, end)
  if (first === undefined) return Readable.from([])
  const opened = await blobs.read(first.blob, first.range ?? undefined)
  if (rest.length === 0) return opened
  return Readable.from(join(blobs, opened, rest), { objectMode: false })
}

async function* join(blobs: Blobs, opened: Readable, rest: readonly PieceRange[]): AsyncGenerator<Buffer> {
  yield* opened as AsyncIterable<Buffer>
  for (const { blob, range } of rest) yield* (await blobs.read(blob, range ?? undefined)) as AsyncIterable<Buffer>
}
