/** Gives equal elements equal numbers from 0 up, over all lists it is asked about. */
export class Symbols<Element extends string | number> {
  readonly #numbers = new Map<Element, number>()

  get size(): number {
    return this.#numbers.size
  }

  number(elements: readonly Element[]): Int32Array {
    const numbered = new Int32Array(elements.length)
    for (let index = 0; index < elements.length; index++) numbered[index] = this.#numberOf(elements[index] as Element)
    return numbered
  }

  #numberOf(element: Element): number {
    const known = this.#numbers.get(element)
    if (known !== undefined) return known
    const next = this.#numbers.size
    this.#numbers.set(element, next)
    return next
  }
}
