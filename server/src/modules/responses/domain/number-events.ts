import type { StreamEvent, StreamEventBody } from '@switchyard/contracts/responses/stream.ts'
import { randomBytes } from 'node:crypto'

const paddingMax = 16

/** Gives events their numbers; with obfuscation, deltas get padding so that their length tells nothing. */
export class EventNumbers {
  #next: number
  readonly #obfuscated: boolean

  constructor(next: number, obfuscated: boolean) {
    this.#next = next
    this.#obfuscated = obfuscated
  }

  get next(): number {
    return this.#next
  }

  number(body: StreamEventBody): StreamEvent {
    const event = { ...body, sequence_number: this.#next } as StreamEvent
    this.#next += 1
    if (this.#obfuscated && body.type.endsWith('.delta')) event.obfuscation = padding()
    return event
  }
}

/** The same for an event that is text already, unless it has its padding. */
export function obfuscated(type: string, json: string): string {
  if (!type.endsWith('.delta') || json.includes('"obfuscation":')) return json
  return `${json.slice(0, -1)},"obfuscation":"${padding()}"}`
}

function padding(): string {
  const [size = 0] = randomBytes(1)
  return randomBytes(paddingMax)
    .toString('base64url')
    .slice(0, 1 + (size % paddingMax))
}
