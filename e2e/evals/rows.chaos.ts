/**
 * A run under kill -9: worker, api, Restate and PostgreSQL are killed in turn and started again while rows are in hand.
 * Every row is graded once, the counts and the usage add up, the provider is asked again only for what a kill
 * interrupted, and there is one webhook.
 *
 *   node e2e/evals/rows.chaos.ts --rows 100000
 */
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { becomesTrue } from '../../dev/engines/wait-until.ts'
import { Checks } from '../load/checks.ts'
import { auditCalls, auditResults, auditUsage } from './audit-rows.ts'
import { interruptRows } from './interrupt-rows.ts'
import { beginRun, endOf, newRowsEval, uploadRows } from './rows-eval.ts'
import { withRowsFleet, type RowsFleet } from './rows-fleet.ts'

interface Sizes {
  readonly rows: number
  readonly rounds: number
  readonly latencyMs: number
}

const boundOf = (rows: number) => 180_000 + rows * 60
const eventBoundMs = 30_000
/** A second event would come within so long. */
const quietMs = 2_000

async function proveChaos(rowsFleet: RowsFleet, checks: Checks, { rows, rounds, latencyMs }: Sizes): Promise<void> {
  const { fleet, provider, sink } = rowsFleet
  const client = fleet.client()
  await provider.begin(rows, latencyMs)
  const evalId = await newRowsEval(client)
  const began = performance.now()
  const begun = await beginRun(client, evalId, await uploadRows(client, 0, rows))
  // The client asks all the while, whoever is away.
  const ending = endOf(client, begun, boundOf(rows))
  const kills = await interruptRows(rowsFleet, { runId: begun.id, rows, rounds, boundMs: boundOf(rows) })
  const run = await ending
  console.log(`  ${rows} rows in ${((performance.now() - began) / 1_000).toFixed(1)} s`)
  await auditResults(fleet, checks, run, rows)
  const repeated = auditCalls(checks, await provider.calls(), kills, (await provider.counts()).strays)
  await auditUsage(fleet, checks, run, { rows, repeated })
  await becomesTrue(() => sink.byWebhookId.size > 0, eventBoundMs)
  await sleep(quietMs)
  const told = [...sink.byWebhookId.values()]
  checks.expect(
    'one webhook',
    told.length === 1 && told[0]?.type === 'eval.run.succeeded' && told[0].responseId === begun.id,
    told.map(({ type }) => type).join(),
  )
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      rows: { type: 'string', default: '1000' },
      rounds: { type: 'string', default: '1' },
      latency: { type: 'string', default: '250' },
    },
  })
  const checks = new Checks()
  const { rows, rounds, latency } = values
  const sizes = { rows: Number(rows), rounds: Number(rounds), latencyMs: Number(latency) }
  await withRowsFleet({}, (rowsFleet) => proveChaos(rowsFleet, checks, sizes))
  return checks.finish()
}

if (import.meta.main) process.exitCode = await main()
