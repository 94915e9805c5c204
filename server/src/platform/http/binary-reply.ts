import type { Readable } from 'node:stream'

/** A body of raw bytes, streamed. */
export class BinaryReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly stream: Readable

  constructor(reply: { status?: number; headers: Record<string, string>; stream: Readable }) {
    this.status = reply.status ?? 200
    this.headers = reply.headers
    this.stream = reply.stream
  }
}
