import { setTimeout as sleep } from 'node:timers/promises'
import { APIError, toFile, type OpenAI } from 'openai'
import type { OutputItemListResponse } from 'openai/resources/evals/runs/output-items'
import type { RunRetrieveResponse } from 'openai/resources/evals/runs/runs'
import type { Expected } from './hostile-input.ts'
import type { HostilePlan } from './hostile-plans.ts'

/** What came of one input: what it said, and what is wrong about that. */
export interface Verdict {
  readonly name: string
  readonly said: string
  readonly wrong: string | null
}

/** What must come of each row of a run, in order. */
export interface AwaitedRow extends Pick<Verdict, 'name'> {
  readonly expected: Expected
}

const over: readonly string[] = ['completed', 'failed', 'canceled']
const pollMs = 300
const runBoundMs = 240_000
/** Rows of four megabytes are among them. */
const itemsPerPage = 20
const asJson = { headers: { 'content-type': 'application/json' } }

export const sound: Expected = { expects: 'row_ok' }

/** Begins a run over rows that are JSON text. */
export async function beginRun(client: OpenAI, evalId: string, source: string): Promise<string> {
  const body = `{"name":"hostile","data_source":{"type":"jsonl","source":${source}}}`
  const { id } = await client.post<{ id: string }>(`/evals/${evalId}/runs`, { body, ...asJson })
  return id
}

export async function createEval(client: OpenAI, text: string): Promise<string> {
  const { id } = await client.post<{ id: string }>('/evals', { body: text, ...asJson })
  return id
}

/** Sends an eval and a run of it, and says whether what came of it is what must come of it. */
export async function play(client: OpenAI, plan: HostilePlan): Promise<Verdict[]> {
  const { input, evalText, rows } = plan
  const { name } = input
  let begun: { evalId: string; runId: string }
  try {
    const evalId = await createEval(client, evalText)
    begun = { evalId, runId: await beginRun(client, evalId, await sourceOf(client, plan)) }
  } catch (error) {
    return [judgeRefusal(name, input, error)]
  }
  const awaited = rows.map((_, at) => ({
    name: at === Math.floor(rows.length / 2) ? name : `${name}: row ${at + 1} beside it`,
    expected: at === Math.floor(rows.length / 2) ? input : sound,
  }))
  return await judgeRun(client, begun, awaited)
}

async function sourceOf(client: OpenAI, { rows, by }: HostilePlan): Promise<string> {
  if (by === 'content') return `{"type":"file_content","content":[${rows.join(',')}]}`
  const file = await toFile(Buffer.from(rows.join('\n')), 'rows.jsonl')
  const { id } = await client.files.create({ file, purpose: 'evals' })
  return JSON.stringify({ type: 'file_id', id })
}

function judgeRefusal(name: string, expected: Expected, error: unknown): Verdict {
  if (!(error instanceof APIError)) throw error
  const said = `${error.status} ${error.code} ${error.param} ${error.message}`
  const fits = expected.expects === 'refused' && isRefusal(error.status) && expected.reason.test(said)
  return { name, said, wrong: fits ? null : `refused, in place of ${wanted(expected)}` }
}

/** A model that nobody has is not found; everything else is a bad request. */
const isRefusal = (status: number | undefined) => status === 400 || status === 404

const wanted = (expected: Expected) =>
  expected.expects === 'row_ok' ? 'a row that passes' : `${expected.expects} ${expected.reason.source}`

/** Waits for the end of a run and compares each of its rows, and the counts. */
export async function judgeRun(
  client: OpenAI,
  { evalId, runId }: { evalId: string; runId: string },
  awaited: readonly AwaitedRow[],
): Promise<Verdict[]> {
  const run = await endOf(client, evalId, runId)
  const verdicts: Verdict[] = []
  const query = { eval_id: evalId, limit: itemsPerPage, order: 'asc' } as const
  for await (const item of client.evals.runs.outputItems.list(runId, query)) {
    const row = awaited[item.datasource_item_id]
    if (row !== undefined) verdicts.push(judgeRow(row, item))
  }
  const [first] = awaited
  const wrong = wrongCounts(run, awaited, verdicts.length)
  const said = `${run.status} ${JSON.stringify(run.result_counts)}`
  return [...verdicts, ...(wrong === null ? [] : [{ name: `${first?.name}: its run`, said, wrong }])]
}

function judgeRow({ name, expected }: AwaitedRow, item: OutputItemListResponse): Verdict {
  // The SDK's type has no null here; the contract has.
  const error = item.sample.error as OutputItemListResponse['sample']['error'] | null
  const said = `${item.status} ${error?.message ?? ''}`.trim()
  if (expected.expects === 'row_ok') return { name, said, wrong: item.status === 'pass' ? null : 'it does not pass' }
  const fits =
    expected.expects === 'row_error' && item.status === 'error' && error !== null && expected.reason.test(error.message)
  return { name, said, wrong: fits ? null : `not ${wanted(expected)}` }
}

function wrongCounts(run: RunRetrieveResponse, awaited: readonly AwaitedRow[], listed: number): string | null {
  const good = awaited.filter(({ expected }) => expected.expects === 'row_ok').length
  const counts = { total: awaited.length, passed: good, errored: awaited.length - good, failed: 0 }
  const same = Object.entries(counts).every(([name, count]) => run.result_counts[name as keyof typeof counts] === count)
  if (run.status !== 'completed') return `the run is ${run.status}: ${JSON.stringify(run.error)}`
  if (listed !== awaited.length) return `${listed} rows listed of ${awaited.length}`
  return same ? null : `the counts are not ${JSON.stringify(counts)}`
}

async function endOf(client: OpenAI, evalId: string, runId: string): Promise<RunRetrieveResponse> {
  const until = performance.now() + runBoundMs
  for (;;) {
    const run = await client.evals.runs.retrieve(runId, { eval_id: evalId })
    if (over.includes(run.status) || performance.now() > until) return run
    await sleep(pollMs)
  }
}
