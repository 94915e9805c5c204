import { assert } from '#platform/std/assert.ts'

/** The formula cannot be read, or does not come to a number. */
export class FormulaError extends Error {
  override name = 'FormulaError'
}

type Step =
  | { readonly kind: 'number'; readonly value: number }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'call'; readonly work: (...values: number[]) => number; readonly takes: number }

/** Steps over a stack: short to run, and nothing of it is code. */
export interface Formula {
  readonly steps: readonly Step[]
  /** The graders that it refers to. */
  readonly names: readonly string[]
}

const tokensMax = 500
const depthMax = 50
const argumentsMax = 32

const functions: ReadonlyMap<string, { readonly work: (...values: number[]) => number; readonly takes?: number }> =
  new Map([
    ['min', { work: Math.min }],
    ['max', { work: Math.max }],
    ['abs', { work: Math.abs, takes: 1 }],
    ['floor', { work: Math.floor, takes: 1 }],
    ['ceil', { work: Math.ceil, takes: 1 }],
    ['exp', { work: Math.exp, takes: 1 }],
    ['sqrt', { work: Math.sqrt, takes: 1 }],
    ['log', { work: Math.log, takes: 1 }],
  ])

/** Names that a grader cannot have in a formula. */
export const formulaFunctions: ReadonlySet<string> = new Set(functions.keys())

const binary: ReadonlyMap<string, (left: number, right: number) => number> = new Map([
  ['+', (left: number, right: number) => left + right],
  ['-', (left: number, right: number) => left - right],
  ['*', (left: number, right: number) => left * right],
  ['/', (left: number, right: number) => left / right],
  ['**', (left: number, right: number) => left ** right],
])

const token = /\s*(?:((?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)|([A-Za-z_]\w*)|(\*\*|[-+*/^(),]))/y

function tokensOf(text: string): string[] {
  const tokens: string[] = []
  const end = text.trimEnd().length
  token.lastIndex = 0
  while (token.lastIndex < end) {
    const at = token.lastIndex
    const found = token.exec(text)
    if (found === null) throw new FormulaError(`it cannot be read from '${text.slice(at, at + 20).trim()}' on`)
    if (tokens.length === tokensMax) throw new FormulaError(`it has more than ${tokensMax} parts`)
    tokens.push(found[1] ?? found[2] ?? found[3] ?? '')
  }
  return tokens
}

/** Sums of products of powers: each level reads what binds tighter by the next one. */
class Reader {
  readonly steps: Step[] = []
  readonly names = new Set<string>()
  readonly #tokens: readonly string[]
  #at = 0
  #depth = 0

  constructor(tokens: readonly string[]) {
    this.#tokens = tokens
  }

  read(): void {
    this.#sum()
    const rest = this.#tokens[this.#at]
    if (rest !== undefined) throw new FormulaError(`'${rest}' was not expected`)
  }

  #take(...wanted: string[]): string | null {
    const next = this.#tokens[this.#at]
    if (next === undefined || !wanted.includes(next)) return null
    this.#at += 1
    return next
  }

  #expect(wanted: string): void {
    if (this.#take(wanted) !== null) return
    const found = this.#tokens[this.#at]
    throw new FormulaError(`'${wanted}' was expected${found === undefined ? ' at the end' : ` before '${found}'`}`)
  }

  #apply(operator: string): void {
    const work = binary.get(operator)
    assert(work !== undefined, 'an operator that was read is known')
    this.steps.push({ kind: 'call', work, takes: 2 })
  }

  #sum(): void {
    this.#depth += 1
    if (this.#depth > depthMax) throw new FormulaError(`it is nested more than ${depthMax} levels deep`)
    this.#product()
    for (let sign = this.#take('+', '-'); sign !== null; sign = this.#take('+', '-')) {
      this.#product()
      this.#apply(sign)
    }
    this.#depth -= 1
  }

  #product(): void {
    this.#signed()
    for (let sign = this.#take('*', '/'); sign !== null; sign = this.#take('*', '/')) {
      this.#signed()
      this.#apply(sign)
    }
  }

  /** As in Python and in schools, `-a ** 2` is below zero. */
  #signed(): void {
    let negative = false
    for (let sign = this.#take('+', '-'); sign !== null; sign = this.#take('+', '-'))
      negative = negative !== (sign === '-')
    this.#power()
    if (negative) this.steps.push({ kind: 'call', work: (value = 0) => -value, takes: 1 })
  }

  #power(): void {
    this.#value()
    if (this.#take('**', '^') === null) return
    this.#depth += 1
    if (this.#depth > depthMax) throw new FormulaError(`it is nested more than ${depthMax} levels deep`)
    this.#signed()
    this.#depth -= 1
    this.#apply('**')
  }

  #value(): void {
    const next = this.#tokens[this.#at]
    if (next === undefined) throw new FormulaError('a value was expected at the end')
    this.#at += 1
    if (next === '(') {
      this.#sum()
      this.#expect(')')
    } else if (/^[\d.]/.test(next)) this.steps.push({ kind: 'number', value: Number(next) })
    else if (/^\w/.test(next)) this.#named(next)
    else throw new FormulaError(`a value was expected before '${next}'`)
  }

  #named(name: string): void {
    const known = functions.get(name)
    if (known === undefined) {
      this.names.add(name)
      this.steps.push({ kind: 'name', name })
      return
    }
    this.#expect('(')
    let count = 0
    do {
      this.#sum()
      count += 1
    } while (count < argumentsMax && this.#take(',') !== null)
    this.#expect(')')
    if (known.takes !== undefined && known.takes !== count) {
      throw new FormulaError(`${name}() takes ${known.takes} value, not ${count}`)
    }
    this.steps.push({ kind: 'call', work: known.work, takes: count })
  }
}

export function parseFormula(text: string): Formula {
  const reader = new Reader(tokensOf(text))
  reader.read()
  return { steps: reader.steps, names: [...reader.names] }
}

/** What the formula comes to for these scores. */
export function evaluate({ steps }: Formula, scores: ReadonlyMap<string, number>): number {
  const stack: number[] = []
  for (const step of steps) {
    if (step.kind === 'number') stack.push(step.value)
    else if (step.kind === 'call') stack.push(step.work(...stack.splice(stack.length - step.takes)))
    else {
      const score = scores.get(step.name)
      if (score === undefined) throw new FormulaError(`there is no grader '${step.name}'`)
      stack.push(score)
    }
  }
  const [result] = stack
  assert(result !== undefined && stack.length === 1, 'a formula leaves one value')
  if (!Number.isFinite(result)) throw new FormulaError('it does not come to a number')
  return result
}
