/**
 * Moves evals from one server to another with the official SDK: the evals, the definitions of their runs and the data
 * of these. See docs/guides/moving-from-hosted-evals.md.
 *
 *     FROM_BASE_URL=… FROM_API_KEY=… TO_BASE_URL=… TO_API_KEY=… node move-evals.ts --dry-run
 *
 * What was moved before is found by its metadata (`moved_from`) and left alone, so it can be run again at any time.
 */
import { createReadStream, createWriteStream } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import { parseArgs } from 'node:util'
import OpenAI from 'openai'
import type { EvalCreateParams } from 'openai/resources/evals/evals'
import type { RunCreateParams } from 'openai/resources/evals/runs/runs'

const help = `node move-evals.ts [options]

  --eval ID         only this eval; may be given several times (default: all)
  --runs WHICH      latest (default), all, or none. A run that is moved starts at the target, and costs what it costs there
  --model OLD=NEW   use another model at the target; may be given several times
  --dry-run         say what would be done, and do nothing

From the environment: FROM_BASE_URL, FROM_API_KEY, TO_BASE_URL, TO_API_KEY.
`

const metadataPairsMax = 16
/** Answers that asking again does not change: the file is gone, or not given out. */
const lostStatuses: readonly unknown[] = [400, 403, 404, 410]
/** As wide as the ids of runs are. */
const idColumns = 40

type Json = Record<string, unknown>
type Metadata = Record<string, string> | null
interface OldEval {
  readonly id: string
  readonly name: string
  readonly metadata: Metadata
  readonly data_source_config: { readonly type: string; readonly schema: unknown; readonly metadata?: Json | null }
  readonly testing_criteria: readonly object[]
}
interface OldRun {
  readonly id: string
  readonly eval_id: string
  readonly name: string
  readonly status: string
  readonly metadata: Metadata
  readonly data_source: {
    readonly type: string
    readonly model?: string
    readonly source: object
  }
}
interface Move {
  readonly from: OpenAI
  readonly to: OpenAI
  readonly dryRun: boolean
  readonly runs: string
  readonly models: ReadonlyMap<string, string>
  /** Models that the target has. */
  readonly known: ReadonlySet<string>
  readonly folder: string
  readonly sums: { moved: number; left: number }
}

/** Something that cannot be carried over; the message says what to do about it. */
class CannotMove extends Error {}

/** A reply shows null where nothing was said; a request says nothing. */
function withoutNulls<Value>(value: Value): Value {
  if (Array.isArray(value)) return value.map(withoutNulls) as Value
  if (typeof value !== 'object' || value === null) return value
  const said = Object.entries(value).filter(([, inner]) => inner !== null)
  return Object.fromEntries(said.map(([key, inner]) => [key, withoutNulls(inner)])) as Value
}

function modelOf({ models, known }: Move, name: string): string {
  const model = models.get(name) ?? name
  if (known.has(model)) return model
  throw new CannotMove(`the target has no model ${model}: add it there, or give --model ${name}=ANOTHER`)
}

/** `schema` holds what `item_schema` was, and a sample where one was asked for. Schemas keep their nulls. */
function configOf({ type, schema, metadata }: OldEval['data_source_config']): Json {
  if (type !== 'custom') return { type, ...(metadata != null && { metadata }) }
  const { item = {}, sample } = (schema as { properties?: Json }).properties ?? {}
  return { type, item_schema: item, include_sample_schema: sample !== undefined }
}

function criterionOf(move: Move, grader: object, notes: string[]): Json {
  const { id: _id, ...given } = withoutNulls(grader) as Json
  if (given['evaluation_metric'] === 'cosine') {
    const name = String(given['name'])
    notes.push(`"${name}": cosine counts words here, not embeddings; choose its threshold anew, or use score_model`)
  }
  return 'model' in given ? { ...given, model: modelOf(move, String(given['model'])) } : given
}

function movedFrom(id: string, metadata: Metadata, notes: string[]): Record<string, string> {
  const pairs = Object.entries(metadata ?? {})
  const left = pairs[metadataPairsMax - 1]?.[0]
  if (left !== undefined) notes.push(`left out metadata "${left}" to make room for moved_from`)
  return { ...Object.fromEntries(pairs.slice(0, metadataPairsMax - 1)), moved_from: id }
}

/** Whether there is something to download. */
async function download({ from }: Move, id: string, path: string): Promise<boolean> {
  try {
    const { body } = await from.files.content(id)
    if (body === null) throw new Error('no content')
    await pipeline(Readable.fromWeb(body as ReadableStream), createWriteStream(path))
    return true
  } catch (error) {
    if (error instanceof OpenAI.APIError && lostStatuses.includes(error.status)) return false
    throw new CannotMove(`${id} could not be downloaded (${(error as Error).message}): start this script again`)
  }
}

/** The rows of a run as a file at the target. */
async function moveFile(move: Move, id: string, run: OldRun, notes: string[]): Promise<string> {
  const path = join(move.folder, `${id}.jsonl`)
  if (!(await download(move, id, path))) {
    // Only a run that came to its end has a result for every row.
    const rows = run.status === 'completed' ? await rowsFromResults(move.from, run) : []
    if (rows.length === 0) {
      throw new CannotMove(`${id} can no longer be downloaded: upload the data to the target and start the run there`)
    }
    await writeFile(path, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
    notes.push(`${id} can no longer be downloaded: its ${rows.length} rows were taken from the results of the run`)
  }
  return (await move.to.files.create({ file: createReadStream(path), purpose: 'evals' })).id
}

/** Each result repeats the row that it is about. */
async function rowsFromResults(from: OpenAI, run: OldRun): Promise<Json[]> {
  const rows: { n: number; row: Json }[] = []
  const given = run.data_source.type === 'jsonl'
  for await (const result of from.evals.runs.outputItems.list(run.id, { eval_id: run.eval_id, limit: 100 })) {
    const text = result.sample?.output?.map(({ content }) => content ?? '').join('')
    const row = { item: result.datasource_item, ...(given && { sample: { output_text: text } }) }
    rows.push({ n: result.datasource_item_id, row })
  }
  return rows.sort((a, b) => a.n - b.n).map(({ row }) => row)
}

async function sourceOf(move: Move, run: OldRun, notes: string[]): Promise<Json> {
  const { source, ...rest } = withoutNulls(run.data_source)
  const { type, id = '' } = source as { type: string; id?: string }
  if (type === 'responses' || type === 'stored_completions') {
    throw new CannotMove(
      `it reads ${type} of the old server, which do not move: start it at the target once it has some`,
    )
  }
  const dataSource = {
    ...rest,
    ...(rest.model !== undefined && { model: modelOf(move, rest.model) }),
  }
  // Rows may well have nulls in them.
  if (type === 'file_content') return { ...dataSource, source: run.data_source.source }
  return { ...dataSource, source: { type, id: move.dryRun ? id : await moveFile(move, id, run, notes) } }
}

type Work = (notes: string[]) => Promise<string>

async function attempt(move: Move, what: string, from: string, work: Work): Promise<string | null> {
  const notes: string[] = []
  try {
    const to = await work(notes)
    move.sums.moved += 1
    print(what, from, to, notes)
    return to
  } catch (error) {
    if (!(error instanceof CannotMove) && !(error instanceof OpenAI.APIError)) throw error
    move.sums.left += 1
    print(what, from, 'not moved', [...notes, error.message])
    return null
  }
}

async function moveRuns(move: Move, oldEval: string, newEval: string | null): Promise<void> {
  if (move.runs === 'none') return
  const { from, to } = move
  const old: OldRun[] = []
  for await (const run of from.evals.runs.list(oldEval, { order: 'desc', limit: 100 })) {
    old.unshift(run)
    if (move.runs === 'latest') break
  }
  const there = new Map<string, string>()
  if (newEval !== null) {
    for await (const { id, metadata } of to.evals.runs.list(newEval, { limit: 100 })) {
      there.set(metadata?.['moved_from'] ?? '', id)
    }
  }
  for (const run of old) {
    await attempt(move, 'run', run.id, async (notes) => {
      const known = there.get(run.id)
      if (known !== undefined) return `${known} (was there)`
      const metadata = movedFrom(run.id, run.metadata, notes)
      const body = { name: run.name, metadata, data_source: await sourceOf(move, run, notes) }
      if (move.dryRun || newEval === null) return '(would be started)'
      return (await to.evals.runs.create(newEval, body as unknown as RunCreateParams)).id
    })
  }
}

async function moveEval(move: Move, old: OldEval, there: ReadonlyMap<string, string>): Promise<void> {
  const known = there.get(old.id) ?? null
  const made = await attempt(move, 'eval', old.id, async (notes) => {
    if (known !== null) return `${known} (was there)`
    const body = {
      name: old.name,
      metadata: movedFrom(old.id, old.metadata, notes),
      data_source_config: configOf(old.data_source_config),
      testing_criteria: old.testing_criteria.map((grader) => criterionOf(move, grader, notes)),
    }
    if (move.dryRun) return '(would be made)'
    return (await move.to.evals.create(body as unknown as EvalCreateParams)).id
  })
  if (made !== null) await moveRuns(move, old.id, known ?? (move.dryRun ? null : made))
}

function print(what: string, from: string, to: string, notes: readonly string[]): void {
  process.stdout.write(`${what.padEnd(4)}  ${from.padEnd(idColumns)}  →  ${to}\n`)
  for (const note of notes) process.stdout.write(`      ${note}\n`)
}

function clientOf(side: 'FROM' | 'TO'): OpenAI {
  const { [`${side}_BASE_URL`]: baseURL, [`${side}_API_KEY`]: apiKey } = process.env
  if (!baseURL || !apiKey) throw new CannotMove(`Set ${side}_BASE_URL and ${side}_API_KEY.\n\n${help}`)
  return new OpenAI({ baseURL, apiKey })
}

async function main(): Promise<number> {
  const many = { type: 'string', multiple: true, default: [] as string[] } as const
  const flag = { type: 'boolean', default: false } as const
  const { values } = parseArgs({
    options: { eval: many, model: many, runs: { type: 'string', default: 'latest' }, 'dry-run': flag, help: flag },
  })
  if (values.help || !['latest', 'all', 'none'].includes(values.runs)) {
    process.stdout.write(help)
    return values.help ? 0 : 2
  }
  const [from, to] = [clientOf('FROM'), clientOf('TO')]
  const known = new Set<string>()
  for await (const { id } of to.models.list()) known.add(id)
  const there = new Map<string, string>()
  for await (const one of to.evals.list({ limit: 100 })) there.set(one.metadata?.['moved_from'] ?? '', one.id)
  const folder = await mkdtemp(join(tmpdir(), 'move-evals-'))
  const models = new Map(values.model.map((pair) => pair.split('=', 2) as [string, string]))
  const sums = { moved: 0, left: 0 }
  const move: Move = { from, to, dryRun: values['dry-run'], runs: values.runs, models, known, folder, sums }
  try {
    if (values.eval.length === 0) {
      for await (const old of from.evals.list({ order: 'asc', limit: 100 })) await moveEval(move, old, there)
    }
    for (const id of values.eval) await moveEval(move, await from.evals.retrieve(id), there)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
  process.stdout.write(`${sums.moved} moved or there already, ${sums.left} not moved\n`)
  return sums.left === 0 ? 0 : 1
}

try {
  process.exitCode = await main()
} catch (error) {
  if (!(error instanceof CannotMove) && !(error instanceof OpenAI.APIError)) throw error
  process.stderr.write(`${error.message}\n`)
  process.exitCode = 2
}
