import type { Readable } from 'node:stream'

export interface MeshCall {
  readonly input: unknown
  /** Bytes that came along; empty when there were none. */
  readonly body: Readable
  /** Aborts when whoever asked is gone. */
  readonly signal: AbortSignal
}

/** What a command answers: a value, and bytes or events after it. */
export interface MeshAnswer {
  readonly value: unknown
  readonly bytes?: AsyncIterable<Uint8Array>
  readonly events?: AsyncIterable<unknown>
}

/** Something that only the owner of a thing can do. */
export type MeshCommand = (call: MeshCall) => Promise<MeshAnswer>

export type MeshCommands = ReadonlyMap<string, MeshCommand>

export interface MeshOwner {
  readonly id: string
  readonly url: string
}

/** The owner could not be asked, or went away while it answered. What it did until then is not known. */
export class MeshUnreachable extends Error {
  override readonly name = 'MeshUnreachable'
}
