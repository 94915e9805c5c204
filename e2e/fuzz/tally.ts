import { printTable } from '../load/print-table.ts'
import { promises, type Complaint, type Promised } from './judge.ts'
import type { Outcome } from './line.ts'

const shownMax = 10

/** What became of the requests, by operation and status, and what there was to complain of. */
export class Tally {
  readonly #counts = new Map<string, Map<string, number>>()
  readonly #broken = new Map<Promised, number>()
  #shown = 0

  count(operation: string, outcome: Outcome): void {
    const status = outcome.kind === 'reply' ? String(outcome.replies[0]?.status) : outcome.kind
    const row = this.#counts.get(operation) ?? new Map<string, number>()
    row.set(status, (row.get(status) ?? 0) + 1)
    this.#counts.set(operation, row)
  }

  complain(complaints: readonly Complaint[], reproduction: () => string): void {
    for (const { broken, detail } of complaints) {
      this.#broken.set(broken, (this.#broken.get(broken) ?? 0) + 1)
      this.#shown += 1
      if (this.#shown <= shownMax) console.log(`\n${broken}: ${detail}\n  ${reproduction()}`)
    }
  }

  timesBroken(promise: Promised): number {
    return this.#broken.get(promise) ?? 0
  }

  get failures(): number {
    return promises.reduce((sum, promise) => sum + this.timesBroken(promise), 0)
  }

  print(): void {
    const statuses = [...new Set([...this.#counts.values()].flatMap((row) => [...row.keys()]))].toSorted()
    const rows = [...this.#counts].toSorted(([a], [b]) => (a < b ? -1 : 1))
    const sum = (row: ReadonlyMap<string, number>) => [...row.values()].reduce((total, count) => total + count, 0)
    printTable([
      ['operation', ...statuses, 'all'],
      ...rows.map(([operation, row]) => [operation, ...statuses.map((status) => row.get(status) ?? 0), sum(row)]),
      [
        'all',
        ...statuses.map((status) => rows.reduce((total, [, row]) => total + (row.get(status) ?? 0), 0)),
        rows.reduce((total, [, row]) => total + sum(row), 0),
      ],
    ])
  }
}
