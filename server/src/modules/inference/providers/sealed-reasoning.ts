import { createHash } from 'node:crypto'
import type { ProviderConfig } from '../domain/model.ts'

const tagChars = 8

/**
 * A provider's sealed reasoning means something only to that provider, and the next turn may go to another. So it
 * carries a short tag of where it came from, and elsewhere it is left out.
 */
export class SealedReasoning {
  readonly #tag: string

  constructor({ wire, baseUrl }: ProviderConfig) {
    this.#tag = `${createHash('sha256').update(`${wire} ${baseUrl}`).digest('hex').slice(0, tagChars)}.`
  }

  tagged(sealed: string): string {
    return this.#tag + sealed
  }

  /** What was sealed; null when it is not this provider's. */
  open(tagged: string | null | undefined): string | null {
    return tagged?.startsWith(this.#tag) === true ? tagged.slice(this.#tag.length) : null
  }
}
