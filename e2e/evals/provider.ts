import { Child } from '../webhooks/child.ts'
import type { CallKind } from './row-calls.ts'

export type ProviderQuestion =
  | { readonly kind: 'listen' }
  | { readonly kind: 'begin'; readonly rows: number; readonly latencyMs: number }
  | { readonly kind: 'allow'; readonly rows: number }
  | { readonly kind: 'counts' }
  | { readonly kind: 'moved'; readonly withinMs: number }
  | { readonly kind: 'calls' }
  | { readonly kind: 'bodies' }

export interface CallCounts {
  readonly begun: number
  readonly answered: number
  /** Rows whose last call was answered. */
  readonly rows: number
  /** Requests that belong to no row. */
  readonly strays: number
  readonly cpuMicros: number
}

/** How often each row asked, by its number. */
export type Calls = Readonly<Record<CallKind, Uint8Array>>

/** A model provider in a process of its own: every answer takes the same time, and every call is counted by its row. */
export class RowProvider {
  readonly #child = new Child(new URL('provider-process.ts', import.meta.url))
  url = ''

  async listen(): Promise<string> {
    const port = await this.#ask<number>({ kind: 'listen' })
    this.url = `http://127.0.0.1:${port}`
    return `${this.url}/v1`
  }

  /** Counts from here on. Rows are numbered from 0; further ones are answered and not counted by row. */
  begin = (rows: number, latencyMs: number) => this.#ask<null>({ kind: 'begin', rows, latencyMs })
  /** From here on answers are withheld once so many rows have all of theirs. */
  allow = (rows: number) => this.#ask<null>({ kind: 'allow', rows })
  counts = () => this.#ask<CallCounts>({ kind: 'counts' })
  /** Rows that asked or were answered within so long. */
  moved = (withinMs: number) => this.#ask<number[]>({ kind: 'moved', withinMs })
  calls = () => this.#ask<Calls>({ kind: 'calls' })
  /** The first body of each kind, as it came. */
  bodies = () => this.#ask<Record<CallKind, string>>({ kind: 'bodies' })

  async end(): Promise<void> {
    await this.#child.end()
  }

  #ask<Reply>(question: ProviderQuestion): Promise<Reply> {
    return this.#child.ask<Reply>(question)
  }
}
