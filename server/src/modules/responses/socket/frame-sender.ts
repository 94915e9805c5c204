import type { SocketEvent } from '@switchyard/contracts/responses/socket.ts'
import type { WebSocket } from 'ws'

/** With more than this unread, no further event is asked for: the reader slows its own provider down. */
export const unsentBytesSoft = 256 * 1024
/** What is owed at once, such as errors, may come to this much; a client beyond it does not read at all. */
export const unsentBytesMax = 16 * 1024 * 1024

/** Sends events, as fast as the client reads and no faster. */
export class FrameSender {
  readonly #socket: Pick<WebSocket, 'send' | 'bufferedAmount' | 'readyState' | 'OPEN'>
  readonly #stallMs: number
  readonly #onStalled: () => void
  #waiting: ((read: boolean) => void)[] = []
  #timer: NodeJS.Timeout | undefined

  constructor(
    socket: Pick<WebSocket, 'send' | 'bufferedAmount' | 'readyState' | 'OPEN'>,
    { stallMs, onStalled }: { stallMs: number; onStalled: () => void },
  ) {
    this.#socket = socket
    this.#stallMs = stallMs
    this.#onStalled = onStalled
  }

  send(event: SocketEvent): void {
    if (this.#socket.readyState !== this.#socket.OPEN) return
    if (this.#socket.bufferedAmount > unsentBytesMax) this.#stalled()
    else this.#socket.send(JSON.stringify(event), this.#written)
  }

  /** Whether `ready` is to be awaited before the next event. */
  get full(): boolean {
    return this.#socket.bufferedAmount > unsentBytesSoft || this.#socket.readyState !== this.#socket.OPEN
  }

  /** Resolves when the client has read on: true; false when it is gone. */
  ready(): Promise<boolean> {
    if (this.#socket.readyState !== this.#socket.OPEN) return Promise.resolve(false)
    if (!this.full) return Promise.resolve(true)
    this.#timer ??= setTimeout(() => this.#stalled(), this.#stallMs)
    return new Promise((resolve) => this.#waiting.push(resolve))
  }

  /** The socket is gone: nobody waits any longer. */
  end(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    for (const resolve of this.#waiting.splice(0)) resolve(false)
  }

  /** A frame has left this process. */
  readonly #written = (): void => {
    if (this.#timer === undefined) return
    if (this.#socket.bufferedAmount > unsentBytesSoft) {
      this.#timer.refresh()
      return
    }
    clearTimeout(this.#timer)
    this.#timer = undefined
    for (const resolve of this.#waiting.splice(0)) resolve(true)
  }

  #stalled(): void {
    this.end()
    this.#onStalled()
  }
}
