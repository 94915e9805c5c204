import { createHash } from 'node:crypto'
import { Readable } from 'node:stream'
import { BlobTooLarge } from './blobs.ts'

/**
 * Counts, hashes and bounds what flows into a blob, and gives it on in full blocks whatever the size of the chunks that
 * came: a thousand chunks of one byte cost as much memory as one of a thousand.
 */
export function createIntake(source: AsyncIterable<Uint8Array>, limits: { bytesMax: number; signal?: AbortSignal }) {
  const hash = createHash('sha256')
  let bytes = 0

  /** Yields views into the buffers that `take` hands out; only the last block may be shorter than its buffer. */
  async function* blocks(take: () => Buffer): AsyncGenerator<Buffer, void, undefined> {
    let block: Buffer | undefined
    let filled = 0
    for await (const chunk of stoppable(source, limits.signal)) {
      bytes += chunk.byteLength
      if (bytes > limits.bytesMax) throw new BlobTooLarge(limits.bytesMax)
      hash.update(chunk)
      for (let at = 0; at < chunk.byteLength;) {
        block ??= take()
        const part = chunk.subarray(at, at + block.length - filled)
        block.set(part, filled)
        at += part.byteLength
        filled += part.byteLength
        if (filled < block.length) continue
        yield block
        block = undefined
        filled = 0
      }
    }
    if (block !== undefined) yield block.subarray(0, filled)
  }

  return { blocks, result: () => ({ bytes, sha256: hash.digest('hex') }) }
}

/**
 * The source, but a wait for its next chunk ends at once when the signal is given. (Readable.from does not do: its
 * destruction waits for the generator, which waits for a chunk that never comes.)
 */
async function* stoppable(
  source: AsyncIterable<Uint8Array>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Uint8Array, void, undefined> {
  const iterator = source[Symbol.asyncIterator]()
  let stop: (reason: Error) => void = () => undefined
  const onAbort = (): void => stop(signal?.reason as Error)
  signal?.addEventListener('abort', onAbort, { once: true })
  try {
    while (true) {
      signal?.throwIfAborted()
      const next = await new Promise<IteratorResult<Uint8Array>>((resolve, reject) => {
        stop = reject
        iterator.next().then(resolve, reject)
      })
      if (next.done === true) return
      yield next.value
    }
  } finally {
    signal?.removeEventListener('abort', onAbort)
    if (source instanceof Readable) source.destroy()
    // Not waited for: a source that is stuck would never answer.
    iterator.return?.().then(undefined, () => undefined)
  }
}

/** What to report for a put that failed: the caller's own reason when it was the caller who stopped it. */
export function putFailure(error: unknown, signal: AbortSignal | undefined): unknown {
  return signal?.aborted === true ? signal.reason : error
}
