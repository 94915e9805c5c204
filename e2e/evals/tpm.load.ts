/**
 * A run under a limit of tokens a minute that is a third of what it could use: no row errs because of it, nobody is told
 * 429, and the limit is used. What it could use is told by a run of the same processes without a limit that binds; then
 * the limit is set, its first burst is used up by requests, and a run goes on for so long.
 *
 *   node e2e/evals/tpm.load.ts --rows 10000 --seconds 240
 */
import { parseArgs } from 'node:util'
import { OpenAI } from 'openai'
import { becomesTrue } from '../../dev/engines/wait-until.ts'
import { makeOrganizations, type LimitedOrganization } from '../limits/limited-organization.ts'
import { Checks } from '../load/checks.ts'
import type { Fleet } from '../responses/fleet.ts'
import { LimitsFile } from './limits-file.ts'
import { markerOf, wrongIn } from './row-calls.ts'
import { beginRun, endOf, newRowsEval, uploadRows } from './rows-eval.ts'
import { withRowsFleet, type RowsFleet } from './rows-fleet.ts'

interface Sizes {
  /** Of the run that tells what could be used. */
  readonly rows: number
  /** How long the limited run takes, about. */
  readonly seconds: number
  readonly latencyMs: number
}

const share = 1 / 3
const usedWithin = 0.1
/** The most tokens that the model may be asked to answer with. */
const answerTokensMax = 16_384
const answerTokensMin = 16
const requestsAtOnce = 8
/** The last calls come as rows end, not as the limit lets them. */
const steadyUntilShare = 0.95
const retriesMax = 10
const boundMs = 1_800_000
/** Decisions are written a moment later. */
const writtenWithinMs = 5_000

const clientOf = (fleet: Fleet, { key }: LimitedOrganization) =>
  new OpenAI({ baseURL: `http://127.0.0.1:${fleet.portOf()}/v1`, apiKey: key, maxRetries: retriesMax })

async function newOrganization({ stack }: Fleet, name: string): Promise<LimitedOrganization> {
  const [made] = await makeOrganizations(stack.env['SWITCHYARD_POSTGRES_URL'] ?? '', [name])
  if (made === undefined) throw new Error('no organisation was made')
  return made
}

async function restart({ nodes }: Fleet): Promise<void> {
  for (const { process: one } of nodes) await one.restart()
  await Promise.all(nodes.map((node) => node.waitReady()))
}

interface Admitted {
  /** By Valkey's clock. */
  readonly micros: number
  readonly tokens: number
}

interface Decisions {
  readonly admitted: readonly Admitted[]
  /** When somebody was first told to wait; null: nobody was. */
  readonly waitedFrom: number | null
  /** Told 429, or given up waiting. */
  readonly refused: number
}

/** What the limiter decided on the calls of runs; requests at a socket wait for nothing and are not among them. */
async function readDecisions({ db }: Fleet, orgId: string, calls: number): Promise<Decisions> {
  const read = async () => {
    const { rows } = await db.query<{ kind: string; micros: number; tokens: number; waits: boolean; works: boolean }>(
      `select kind, (detail ->> 'clock_micros')::float8 as micros, (detail ->> 'tokens_charged')::int as tokens,
         coalesce((detail ->> 'waits')::boolean, false) as waits, detail -> 'waited_ms' is not null as works
       from limits.decision where org_id = $1 and kind in ('admitted', 'refused') order by micros`,
      [orgId],
    )
    const refused = rows.filter(({ kind, waits }) => kind === 'refused' && !waits).length
    const waitedFrom = rows.find(({ waits }) => waits)?.micros ?? null
    return { admitted: rows.filter(({ kind, works }) => kind === 'admitted' && works), waitedFrom, refused }
  }
  await becomesTrue(async () => (await read()).admitted.length >= calls, writtenWithinMs)
  return await read()
}

const tokensIn = (admitted: readonly Admitted[]) => admitted.reduce((sum, { tokens }) => sum + tokens, 0)

/** Asks for as much as the bucket gives at once, so that the run begins where time alone gives. */
async function useBurst(client: OpenAI, tokensPerMinute: number, row: number): Promise<void> {
  let left = tokensPerMinute
  const ask = async () => {
    while (left > answerTokensMin) {
      const tokens = Math.min(answerTokensMax, left)
      left -= tokens
      const input = markerOf(row)
      await client.responses.create({ model: 'double-chat', input, store: false, max_output_tokens: tokens })
    }
  }
  await Promise.all(Array.from({ length: requestsAtOnce }, ask))
}

interface Measured {
  readonly tokensPerRow: number
  readonly tokensPerMinute: number
}

async function measureFree({ fleet }: RowsFleet, checks: Checks, rows: number): Promise<Measured> {
  const organization = await newOrganization(fleet, 'Free')
  const client = clientOf(fleet, organization)
  const begun = await beginRun(client, await newRowsEval(client), await uploadRows(client, 0, rows))
  const run = await endOf(client, begun, boundMs)
  checks.expect(
    'a run without a limit that binds completes',
    run.status === 'completed' && run.result_counts.errored === 0,
  )
  const { admitted } = await readDecisions(fleet, organization.orgId, 2 * rows)
  const tokens = tokensIn(admitted)
  const minutes = ((admitted.at(-1)?.micros ?? 0) - (admitted[0]?.micros ?? 0)) / 60e6
  return { tokensPerRow: tokens / rows, tokensPerMinute: tokens / minutes }
}

/** The servers read their limits from the file. */
export async function proveLimit(rowsFleet: RowsFleet, file: LimitsFile, checks: Checks, sizes: Sizes): Promise<void> {
  const { fleet, provider } = rowsFleet
  await provider.begin(0, sizes.latencyMs)
  const free = await measureFree(rowsFleet, checks, sizes.rows)
  const limit = Math.floor(free.tokensPerMinute * share)
  const rows = Math.ceil((limit * sizes.seconds) / 60 / free.tokensPerRow)
  console.log(`  ${Math.round(free.tokensPerMinute)} tokens a minute without a limit, ${limit} with it; ${rows} rows`)
  file.write(limit)
  await restart(fleet)
  const organization = await newOrganization(fleet, 'Limited')
  const client = clientOf(fleet, organization)
  const fileId = await uploadRows(client, sizes.rows, rows)
  const evalId = await newRowsEval(client)
  await useBurst(client, limit, sizes.rows)
  const run = await endOf(client, await beginRun(client, evalId, fileId), boundMs)
  const wrong = wrongIn(sizes.rows, rows)
  const { errored, failed, passed } = run.result_counts
  checks.expect(
    'under a third of it the run completes, and no row errs',
    run.status === 'completed' && errored === 0 && failed === wrong && passed === rows - wrong,
    `${run.status}, ${JSON.stringify(run.result_counts)}`,
  )
  const decisions = await readDecisions(fleet, organization.orgId, 2 * rows)
  checkDecisions(checks, decisions, limit, 2 * rows)
}

function checkDecisions(
  checks: Checks,
  { admitted, waitedFrom, refused }: Decisions,
  limit: number,
  calls: number,
): void {
  checks.expect('nobody is told 429', refused === 0, `${admitted.length} calls admitted, ${refused} refused`)
  checks.expect('every call was let in once', admitted.length === calls, `${admitted.length} of ${calls}`)
  const until = admitted[Math.floor(admitted.length * steadyUntilShare)]?.micros ?? 0
  const from = waitedFrom ?? until
  const steady = admitted.filter(({ micros }) => micros > from && micros <= until)
  const minutes = (until - from) / 60e6
  const used = tokensIn(steady) / minutes / limit
  checks.expect(
    'the limit is used to within a tenth, and not passed',
    used >= 1 - usedWithin && used <= 1 + usedWithin,
    `${(used * 100).toFixed(1)} % over ${(minutes * 60).toFixed(1)} s`,
  )
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      rows: { type: 'string', default: '1500' },
      seconds: { type: 'string', default: '20' },
      latency: { type: 'string', default: '250' },
    },
  })
  const checks = new Checks()
  const sizes = { rows: Number(values.rows), seconds: Number(values.seconds), latencyMs: Number(values.latency) }
  const file = new LimitsFile()
  try {
    await withRowsFleet({ SWITCHYARD_LIMITS: file.path }, (rows) => proveLimit(rows, file, checks, sizes))
  } finally {
    file.remove()
  }
  return checks.finish()
}

if (import.meta.main) process.exitCode = await main()
