import {
  AbortMultipartUploadCommand,
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  DeleteObjectCommand,
  PutObjectCommand,
  UploadPartCommand,
  type CompletedPart,
  type S3Client,
} from '@aws-sdk/client-s3'
import { assert } from '#platform/std/assert.ts'
import { createIntake, putFailure } from './intake.ts'

type Target = { Bucket: string; Key: string }

type Upload = { client: S3Client; target: Target; stop: AbortController }

/** What fits is sent in one request, without the memory of a part. */
const SMALL_BYTES = 256 * 1024
const PART_BYTES = 8 * 1024 * 1024
/** While both are, nothing more is taken from the source: a put holds two parts in memory. */
const PARTS_IN_FLIGHT = 2
/** How long parts on their way may still take once the put has failed. */
const GRACE_MS = 10_000
/** The bound of the S3 API. */
const PARTS_MAX = 10_000

/**
 * Stores an object from a stream: in one request when it is small, else in parts. The signal ends the taking of the source
 * and cancels no request: one that is cut off may still be carried out, after whatever was done to undo it. Not with
 * lib-storage, which returns from
 * an abort before it has cleaned up, reads all the rest of the source after a part has failed, and leaves the parts where
 * they are when completion fails.
 */
export async function putS3(
  client: S3Client,
  target: Target,
  source: AsyncIterable<Uint8Array>,
  limits: { bytesMax: number; signal?: AbortSignal },
): Promise<{ bytes: number; sha256: string }> {
  assert(limits.bytesMax <= PART_BYTES * PARTS_MAX, 'a blob fits into the parts that S3 allows')
  const stop = new AbortController()
  const signal = limits.signal === undefined ? stop.signal : AbortSignal.any([limits.signal, stop.signal])
  const upload: Upload = { client, target, stop }
  const intake = createIntake(source, { bytesMax: limits.bytesMax, signal })
  const free: Buffer[] = []
  const parts = cutIntoParts(intake.blocks, free)
  try {
    const { value: first } = await parts.next()
    const { value: second } = await parts.next()
    if (second === undefined) await putWhole(upload, first ?? Buffer.alloc(0))
    else await putParts(upload, startingWith([first ?? second, second], parts), free)
  } catch (error) {
    throw putFailure(error, limits.signal)
  } finally {
    await parts.return(undefined)
  }
  return intake.result()
}

/** Full parts and a shorter last one; a blob that is small comes as one small block. Full buffers in `free` are used again. */
async function* cutIntoParts(
  blocks: (take: () => Buffer) => AsyncIterable<Buffer>,
  free: Buffer[],
): AsyncGenerator<Buffer, undefined, undefined> {
  const small = Buffer.allocUnsafe(SMALL_BYTES)
  let opening: Buffer = small
  let taken = 0
  const take = (): Buffer => {
    taken += 1
    if (taken === 1) return small
    const part = free.pop() ?? Buffer.allocUnsafeSlow(PART_BYTES)
    if (taken > 2) return part
    // There is more than fits into the small block: it becomes the beginning of the first part.
    small.copy(part)
    opening = part
    return part.subarray(SMALL_BYTES)
  }
  let seen = 0
  let onlyBlock: Buffer = small.subarray(0, 0)
  for await (const block of blocks(take)) {
    seen += 1
    if (seen === 1) onlyBlock = block
    else yield seen === 2 ? opening.subarray(0, SMALL_BYTES + block.length) : block
  }
  if (seen <= 1) yield onlyBlock
}

async function* startingWith(first: readonly Buffer[], rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield* first
  yield* rest
}

async function putWhole({ client, target }: Upload, body: Buffer): Promise<void> {
  try {
    await client.send(new PutObjectCommand({ ...target, Body: body }))
  } catch (error) {
    await forget(client, target)
    throw error
  }
}

async function putParts({ client, target, stop }: Upload, parts: AsyncIterable<Buffer>, free: Buffer[]): Promise<void> {
  const { UploadId } = await client.send(new CreateMultipartUploadCommand(target))
  const named = { ...target, UploadId }
  const running = new Set<Promise<void>>()
  const done: CompletedPart[] = []
  const cut = new AbortController()

  const send = async (PartNumber: number, Body: Buffer): Promise<void> => {
    try {
      const command = new UploadPartCommand({ ...named, PartNumber, Body })
      const { ETag } = await client.send(command, { abortSignal: cut.signal })
      done.push({ PartNumber, ETag })
      if (Body.length === PART_BYTES) free.push(Body)
    } catch (error) {
      stop.abort(error) // also ends the wait for the source, with this error
    }
  }

  try {
    let number = 0
    for await (const part of parts) {
      number += 1
      const sending: Promise<void> = send(number, part).finally(() => running.delete(sending))
      running.add(sending)
      if (running.size >= PARTS_IN_FLIGHT) await Promise.race(running)
    }
    await Promise.all(running)
    stop.signal.throwIfAborted()
    const Parts = done.sort((a, b) => (a.PartNumber ?? 0) - (b.PartNumber ?? 0))
    await client.send(new CompleteMultipartUploadCommand({ ...named, MultipartUpload: { Parts } }))
  } catch (error) {
    // A part that arrives after the abort would bring the upload back, so those on their way come to their end first.
    const grace = setTimeout(() => cut.abort(), GRACE_MS)
    await Promise.all(running)
    clearTimeout(grace)
    await forget(client, target, UploadId)
    throw error
  }
}

/**
 * Takes back what may have arrived although we were told otherwise. When this fails too, the parts go with the next
 * removeUnfinished and the object with the sweep for blobs that no row knows.
 */
async function forget(client: S3Client, target: Target, UploadId?: string): Promise<void> {
  await Promise.allSettled([
    ...(UploadId === undefined ? [] : [client.send(new AbortMultipartUploadCommand({ ...target, UploadId }))]),
    client.send(new DeleteObjectCommand(target)),
  ])
}
