import { Child } from './child.ts'

/** How a path of the sink behaves, by its first part: `/ok/7`. */
export const behaviours = ['ok', 'hang', 'error', 'redirect', 'reset'] as const
export type Behaviour = (typeof behaviours)[number]

export type SinkQuestion =
  | { kind: 'listen'; eventsMax: number; ports: number }
  | { kind: 'expect'; secrets: Record<string, string> }
  /** Answers so many of a thousand requests late. */
  | { kind: 'slow'; perThousand: number; ms: number }
  | { kind: 'counts' }
  | { kind: 'report' }
  | { kind: 'arrivals'; paths: string[] }
  | { kind: 'forget' }

export interface SinkCounts {
  readonly requests: number
  readonly firstAt: number
  readonly lastAt: number
}

export interface PathReport {
  readonly requests: number
  readonly unsigned: number
  /** The event came with another webhook-id than before. */
  readonly otherId: number
  /** How often each event came. */
  readonly times: Uint8Array
}

export interface SinkReport {
  readonly paths: Record<string, PathReport>
  /** Requests to a path that nobody may ask for. */
  readonly strays: string[]
  /** By the event's number. */
  readonly webhookIds: (string | undefined)[]
}

const program = new URL('sink-process.ts', import.meta.url)

/** A receiver in a process of its own. */
export class SinkProcess {
  readonly #child = new Child(program)
  #ports: number[] = []

  /** Several ports are several origins, as the endpoints of different receivers are. */
  async listen(eventsMax: number, ports = 1): Promise<void> {
    this.#ports = await this.#child.ask<number[]>({ kind: 'listen', eventsMax, ports } satisfies SinkQuestion)
  }

  urlOf(path: string, index = 0): string {
    return `http://127.0.0.1:${this.#ports[index % this.#ports.length]}${path}`
  }

  ask<Reply>(question: SinkQuestion): Promise<Reply> {
    return this.#child.ask<Reply>(question)
  }

  counts(): Promise<SinkCounts> {
    return this.ask<SinkCounts>({ kind: 'counts' })
  }

  async end(): Promise<void> {
    await this.#child.end('SIGKILL')
  }
}
