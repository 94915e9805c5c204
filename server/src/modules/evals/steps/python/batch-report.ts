export type RowOutcome = { readonly score: number } | { readonly reason: string }

const noReason = 'it gave no reason'

/** What the harness has printed so far. The grader may have written there too: nothing is taken on trust. */
export class BatchReport {
  readonly #rows: number
  readonly #onOutcome: (row: number, outcome: RowOutcome) => void
  readonly #told = new Set<number>()
  #rest = ''
  #begun: number | null = null
  #ended = false
  #spoiled: string | null = null

  constructor(rows: number, onOutcome: (row: number, outcome: RowOutcome) => void) {
    this.#rows = rows
    this.#onOutcome = onOutcome
  }

  /** The row that was begun and of which nothing more was heard. */
  get begun(): number | null {
    return this.#begun
  }

  /** The harness came to its own end. */
  get ended(): boolean {
    return this.#ended
  }

  /** Why nothing more can be graded in this container. */
  get spoiled(): string | null {
    return this.#spoiled
  }

  get outcomes(): number {
    return this.#told.size
  }

  add(text: string): void {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) this.#read(line)
  }

  #read(line: string): void {
    const said = parse(line)
    if (said === null) return
    if (said['end'] === true) {
      this.#ended = true
      this.#spoiled = typeof said['spoiled'] === 'string' ? said['spoiled'] : null
    } else if (this.#isNext(said['begin'])) this.#begun = said['begin']
    else if (this.#begun !== null && said['n'] === this.#begun) this.#close(this.#begun, said)
  }

  #isNext(row: unknown): row is number {
    return (
      Number.isInteger(row) && (row as number) >= 0 && (row as number) < this.#rows && !this.#told.has(row as number)
    )
  }

  #close(row: number, said: Record<string, unknown>): void {
    const { score, error } = said
    this.#begun = null
    this.#told.add(row)
    if (typeof score === 'number' && Number.isFinite(score)) this.#onOutcome(row, { score })
    else this.#onOutcome(row, { reason: typeof error === 'string' ? storable(error) : noReason })
  }
}

const storable = (text: string) => text.toWellFormed().replaceAll('\0', '\uFFFD')

function parse(line: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(line)
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null
  } catch {
    return null
  }
}
