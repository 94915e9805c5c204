import { Transform, type TransformCallback } from 'node:stream'

/** A value that must not come out, and what stands in its place. */
export type Masked = { value: Buffer; shownAs: Buffer }

/** Prepares the values of a host, the longest first. */
export function maskedValues(secrets: readonly { name: string; value: Buffer }[]): Masked[] {
  const values = secrets.map(({ value }) => value).filter((value) => value.length > 0)
  return secrets
    .filter(({ value }) => value.length > 0)
    .map(({ name, value }) => ({ value, shownAs: shownAs(name, values) }))
    .toSorted((a, b) => b.value.length - a.value.length)
}

/** The same for streams whose frames count their bytes: what stands for a value is as long as the value. */
export function inSameLength(masked: readonly Masked[]): Masked[] {
  const byte = neutralByte(masked.map(({ value }) => value))
  return masked.map(({ value }) => ({ value, shownAs: Buffer.alloc(value.length, byte) }))
}

/** `$NAME`, unless it could make up a value together with its neighbours; then bytes that occur in no value. */
function shownAs(name: string, values: readonly Buffer[]): Buffer {
  const placeholder = Buffer.from(`$${name}`)
  const safe = values.every(
    (value) =>
      !value.includes('$') &&
      !placeholder.includes(value) &&
      !placeholder.some((_byte, at) => value.indexOf(placeholder.subarray(at)) === 0),
  )
  return safe ? placeholder : Buffer.alloc(3, neutralByte(values))
}

function neutralByte(values: readonly Buffer[]): number {
  for (const byte of Buffer.from('*#-~^!|.').values()) if (values.every((value) => !value.includes(byte))) return byte
  for (let byte = 0x21; byte < 0x7f; byte += 1) if (values.every((value) => !value.includes(byte))) return byte
  return 0x2a
}

/** Replaces whole values in a text that is all there. */
export function maskText(text: string, masked: readonly Masked[]): string {
  if (masked.length === 0) return text
  const mask = createMask(masked)
  return Buffer.concat([mask.push(Buffer.from(text, 'latin1')), mask.end()]).toString('latin1')
}

/**
 * Replaces values in a stream, whatever the borders of its chunks. Only a tail that may be the beginning of a value is
 * kept back, so events of a stream pass as they come.
 */
export function createMask(masked: readonly Masked[]) {
  const longest = masked[0]?.value.length ?? 0
  let kept: Buffer = Buffer.alloc(0)

  /** Where the longest tail begins that is the beginning of a value, but not all of it. */
  function tailOf(bytes: Buffer): number {
    for (let at = Math.max(0, bytes.length - longest + 1); at < bytes.length; at += 1) {
      const tail = bytes.subarray(at)
      if (masked.some(({ value }) => value.length > tail.length && value.subarray(0, tail.length).equals(tail)))
        return at
    }
    return bytes.length
  }

  /** Replaces every value that begins before `end`; the first one wins, the longest at one place. */
  function replace(bytes: Buffer, end: number): { out: Buffer[]; at: number } {
    const out: Buffer[] = []
    const next = masked.map(({ value }) => bytes.indexOf(value))
    let at = 0
    for (;;) {
      let best = -1
      for (const [index, found] of next.entries()) {
        if (found !== -1 && found < at) next[index] = bytes.indexOf(masked[index]?.value ?? '', at)
        const where = next[index] ?? -1
        if (where !== -1 && where < end && (best === -1 || where < (next[best] ?? 0))) best = index
      }
      const hit = masked[best]
      if (hit === undefined) return { out, at }
      const where = next[best] ?? 0
      out.push(bytes.subarray(at, where), hit.shownAs)
      at = where + hit.value.length
    }
  }

  return {
    push(chunk: Buffer): Buffer {
      const bytes = kept.length === 0 ? chunk : Buffer.concat([kept, chunk])
      const tail = tailOf(bytes)
      const { out, at } = replace(bytes, tail)
      // A value that was replaced may reach into the tail.
      const rest = Math.max(at, tail)
      kept = Buffer.from(bytes.subarray(rest))
      return Buffer.concat([...out, bytes.subarray(at, rest)])
    },

    end(): Buffer {
      const { out, at } = replace(kept, kept.length)
      const last = Buffer.concat([...out, kept.subarray(at)])
      kept = Buffer.alloc(0)
      return last
    },
  }
}

/** The same as a stream. */
export class MaskStream extends Transform {
  readonly #mask: ReturnType<typeof createMask>

  constructor(masked: readonly Masked[]) {
    super()
    this.#mask = createMask(masked)
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    done(null, this.#mask.push(chunk))
  }

  override _flush(done: TransformCallback): void {
    done(null, this.#mask.end())
  }
}
