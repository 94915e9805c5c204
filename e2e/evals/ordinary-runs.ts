import type { OpenAI } from 'openai'
import type { Checks } from '../load/checks.ts'
import { beginRun, createEval, judgeRun, sound, type Verdict } from './hostile-runs.ts'

const rows = 3
const source = `{"type":"file_content","content":[${Array.from({ length: rows }, (_, n) => JSON.stringify({ item: { a: `row ${n}` } })).join()}]}`

/** Somebody who has nothing to do with it: the same small run over and over, one after the other. */
export class OrdinaryRuns {
  readonly #client: OpenAI
  readonly #evalId: string
  #ending = false
  #running: Promise<void> = Promise.resolve()
  readonly #wrong: Verdict[] = []
  #count = 0
  #longestMs = 0

  private constructor(client: OpenAI, evalId: string) {
    this.#client = client
    this.#evalId = evalId
  }

  static async prepare(client: OpenAI): Promise<OrdinaryRuns> {
    const text = JSON.stringify({
      name: 'ordinary',
      data_source_config: {
        type: 'custom',
        item_schema: { type: 'object', properties: { a: { type: 'string', pattern: '^row [0-9]$' } }, required: ['a'] },
      },
      testing_criteria: [
        { type: 'string_check', name: 'same', input: '{{ item.a }}', reference: 'row', operation: 'like' },
        {
          type: 'python',
          name: 'code',
          source: "def grade(sample, item):\n    return len(item['a']) / 5\n",
          pass_threshold: 1,
        },
      ],
    })
    return new OrdinaryRuns(client, await createEval(client, text))
  }

  /** Goes on until it is ended. */
  begin(): void {
    this.#running = this.#repeat()
  }

  async end(checks: Checks): Promise<void> {
    this.#ending = true
    await this.#running
    checks.expect(
      'ordinary runs beside all of it pass',
      this.#wrong.length === 0 && this.#count > 0,
      `${this.#count} runs, the longest ${(this.#longestMs / 1_000).toFixed(1)} s; ${this.#wrong.map(({ name, said }) => `${name}: ${said}`).join('; ')}`,
    )
  }

  async once(): Promise<Verdict[]> {
    const began = performance.now()
    const runId = await beginRun(this.#client, this.#evalId, source)
    const awaited = Array.from({ length: rows }, (_, n) => ({ name: `ordinary row ${n + 1}`, expected: sound }))
    const verdicts = await judgeRun(this.#client, { evalId: this.#evalId, runId }, awaited)
    this.#longestMs = Math.max(this.#longestMs, performance.now() - began)
    this.#count += 1
    return verdicts.filter(({ wrong }) => wrong !== null)
  }

  async #repeat(): Promise<void> {
    while (!this.#ending) this.#wrong.push(...(await this.once()))
  }
}
