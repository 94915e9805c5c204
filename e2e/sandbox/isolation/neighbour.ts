import { setTimeout as delay } from 'node:timers/promises'
import type { HostedContainer } from '../../../server/src/modules/containers/testing/hosted-shell.ts'

const paceMs = 150

export type Phase = 'quiet' | 'attack'

/** Somebody else's container on the same host, which runs `true` at a steady pace all the time. */
export class Neighbour {
  readonly #container: HostedContainer
  readonly #took: Record<Phase, number[]> = { quiet: [], attack: [] }
  readonly #failed: string[] = []
  #phase: Phase = 'quiet'
  #ending = false
  #running: Promise<void> | null = null

  constructor(container: HostedContainer) {
    this.#container = container
  }

  start(): void {
    this.#running = this.#work()
  }

  get failed(): readonly string[] {
    return this.#failed
  }

  during(phase: Phase): void {
    this.#phase = phase
  }

  count(phase: Phase): number {
    return this.#took[phase].length
  }

  /** Milliseconds below which this share of the commands stayed. */
  percentile(phase: Phase, share: number): number {
    const sorted = this.#took[phase].toSorted((a, b) => a - b)
    return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
  }

  async stop(): Promise<void> {
    this.#ending = true
    await this.#running
  }

  async #work(): Promise<void> {
    while (!this.#ending) {
      const phase = this.#phase
      const began = performance.now()
      const { outcome, stderr } = await this.#container.sh('true')
      // One that lies in both phases says nothing of either.
      if (phase === this.#phase) this.#took[phase].push(performance.now() - began)
      if (outcome.type !== 'exit' || outcome.exit_code !== 0) this.#failed.push(`${JSON.stringify(outcome)} ${stderr}`)
      await delay(paceMs)
    }
  }
}
