import { seededRandom } from '../chaos/seeded-random.ts'

const letters = 'abcdefghijklmnopqrstuvwxyz0123456789'

/** What the same seed and number of a request decide the same way again. */
export class Chance {
  readonly #next: () => number

  constructor(seed: number, turn: number) {
    this.#next = seededRandom(Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) + Math.imul(turn + 1, 0xc2b2ae35))
  }

  /** True this share of the time. */
  often(share: number): boolean {
    return this.#next() < share
  }

  /** A whole number from 0 up to, not including, the bound. */
  below(bound: number): number {
    return Math.floor(this.#next() * bound)
  }

  between(least: number, most: number): number {
    return least + this.below(most - least + 1)
  }

  pick<Item>(items: readonly Item[]): Item {
    const item = items[this.below(items.length)]
    if (item === undefined) throw new Error('nothing to pick from')
    return item
  }

  bytes(length: number): Buffer {
    return Buffer.from(Array.from({ length }, () => this.below(256)))
  }

  word(length: number): string {
    return Array.from({ length }, () => letters[this.below(letters.length)]).join('')
  }
}
