import { connect, type Socket } from 'node:net'
import { bytesOf, type Plan } from './plan.ts'
import { readReply, type Reply } from './read-reply.ts'

export type Outcome =
  | { kind: 'reply'; replies: readonly Reply[] }
  /** The server hung up without a word. */
  | { kind: 'closed' }
  | { kind: 'nonsense'; bytes: Buffer }
  | { kind: 'hang' }

const deadlineMs = 15_000
/** A broken request may leave the server waiting for the rest; after this much silence we say that there is none. */
const quietMs = 150
const replyBytesMax = 64 * 1024 * 1024

/** One connection to the server, kept for the next request as long as the server keeps it. */
export class Line {
  readonly #port: number
  #socket: Socket | null = null

  constructor(port: number) {
    this.#port = port
  }

  async send(plan: Plan): Promise<Outcome> {
    if (plan.framing === 'broken') this.close()
    const reused = this.#socket !== null
    const outcome = await this.#exchange(plan)
    // A connection that the server closed while it was idle is no answer to this request.
    if (outcome.kind === 'closed' && reused) return await this.#exchange(plan)
    return outcome
  }

  close(): void {
    this.#socket?.destroy()
    this.#socket = null
  }

  async #exchange(plan: Plan): Promise<Outcome> {
    const socket = (this.#socket ??= connect({ port: this.#port, host: '127.0.0.1', noDelay: true }))
    const broken = plan.framing === 'broken'
    const bodiless = plan.method === 'HEAD'
    let bytes = Buffer.alloc(0)
    const outcome = await new Promise<Outcome>((resolve) => {
      const replies: Reply[] = []
      let quiet: NodeJS.Timeout | undefined
      const finish = (found: Outcome) => {
        clearTimeout(deadline)
        clearTimeout(quiet)
        for (const event of ['data', 'end', 'close', 'error']) socket.removeAllListeners(event)
        socket.on('error', () => undefined)
        resolve(found)
      }
      const deadline = setTimeout(() => finish({ kind: 'hang' }), deadlineMs)
      const look = (ended: boolean) => {
        for (;;) {
          const read = bytes.length === 0 ? 'more' : readReply(bytes, ended, bodiless)
          if (read === 'nonsense') return finish({ kind: 'nonsense', bytes })
          if (read === 'more') break
          replies.push(read.reply)
          bytes = Buffer.from(read.rest)
          // Headers too large to be read leave the server unaware that it was a HEAD; it says its word and hangs up.
          const whole = bytes.length === 0 || (bodiless && read.reply.closes)
          if (!broken) return finish(whole ? { kind: 'reply', replies } : { kind: 'nonsense', bytes })
        }
        if (ended) finish(replies.length > 0 ? { kind: 'reply', replies } : { kind: 'closed' })
      }
      const wait = () => {
        clearTimeout(quiet)
        if (broken) quiet = setTimeout(() => socket.end(), quietMs)
      }
      socket.on('data', (chunk) => {
        bytes = Buffer.concat([bytes, chunk])
        if (bytes.length > replyBytesMax) return finish({ kind: 'nonsense', bytes: bytes.subarray(0, 1_000) })
        wait()
        look(false)
      })
      socket.on('end', () => look(true))
      socket.on('close', () => look(true))
      socket.on('error', () => undefined)
      socket.write(bytesOf(plan))
      wait()
    })
    const open = outcome.kind === 'reply' && !broken && outcome.replies.at(-1)?.closes === false
    if (!open || socket.destroyed || socket.readyState !== 'open') this.close()
    return outcome
  }
}
