import type { Chance } from './chance.ts'

/** The form of our ids: a prefix, sometimes a part more (the cell of a project), and 26 letters and digits. */
const idPattern = /"([a-z_]+[-_](?:[a-z0-9]+_)?[0-9a-z]{26})"/g
const keptPerPrefix = 64

const prefixOf = (id: string) => /^[a-z_]+?[-_](?=[a-z0-9]+_?[0-9a-z]*$)/.exec(id)?.[0] ?? ''

/**
 * Ids that replies have shown, so that requests reach beyond "no such object". What the run itself stands on (its
 * project, its keys) is never handed out for an operation that could end it.
 */
export class KnownIds {
  readonly #byPrefix = new Map<string, string[]>()
  readonly #protected: ReadonlySet<string>

  /** Addresses to give where one is asked for: the server itself, and such that nobody has. */
  readonly urls: readonly string[]

  constructor(protectedIds: Iterable<string>, ownUrl: string) {
    this.#protected = new Set(protectedIds)
    this.urls = [`${ownUrl}/hook`, `${ownUrl}/healthz?a=b`, 'http://127.0.0.1:1/hook', 'https://name.invalid/']
  }

  learn(text: string): void {
    for (const [, id = ''] of text.matchAll(idPattern)) {
      if (this.#protected.has(id)) continue
      const prefix = prefixOf(id)
      const known = this.#byPrefix.get(prefix) ?? []
      if (!known.includes(id)) this.#byPrefix.set(prefix, [...known, id].slice(-keptPerPrefix))
    }
  }

  /** One with the prefix of the example, or the example itself. */
  like(example: string, chance: Chance): string {
    const known = this.#byPrefix.get(prefixOf(example)) ?? []
    return known.length === 0 ? example : chance.pick(known)
  }

  any(chance: Chance): string {
    const all = [...this.#byPrefix.values()].flat()
    return all.length === 0 ? 'none' : chance.pick(all)
  }
}
