/**
 * Nothing lost, responses: background responses of six model turns and five shell calls each, made through the official
 * SDK, while workers, api nodes, Restate and PostgreSQL are killed with -9 in turn. Every one ends completed, with every
 * item once; a model turn is repeated only when a kill interrupted it; one event each reaches the webhook. Then an api
 * node is killed with foreground responses open: each is closed as failed, and its conversation goes on.
 *
 *   node e2e/responses/background.chaos.ts --responses 500 --rounds 10 --foreground 200
 */
import { parseArgs } from 'node:util'
import { Checks } from '../load/checks.ts'
import { seededRandom } from '../chaos/seeded-random.ts'
import { auditBackground } from './audit-background.ts'
import { waitForEnds, Works } from './background-works.ts'
import { EventSink } from './event-sink.ts'
import { Fleet } from './fleet.ts'
import { loseForeground, losePostgres } from './lose-foreground.ts'
import { killInTurn } from './kill-in-turn.ts'
import { followScript } from './scripted-work.ts'

/** A turn takes at least half a second: long enough for kills to fall into it. */
const pace = { firstMs: 300, slowMs: 30 }

async function makeEndpoint(fleet: Fleet, url: string): Promise<void> {
  await fleet.client().post('/webhook_endpoints', {
    body: {
      name: 'sink',
      url,
      event_types: ['response.completed', 'response.failed', 'response.incomplete', 'response.cancelled'],
    },
  })
}

export interface BackgroundSizes {
  readonly responses: number
  readonly rounds: number
  /** Open when an api node falls; none leaves that out. */
  readonly foreground: number
  readonly seed: number
}

export async function proveBackground(fleet: Fleet, checks: Checks, sizes: BackgroundSizes): Promise<void> {
  console.log(`seed ${sizes.seed}, ${sizes.responses} responses, ${sizes.rounds} rounds of kills`)
  const sink = new EventSink()
  try {
    await makeEndpoint(fleet, await sink.listen())
    const turns = followScript(fleet.double, pace)
    const begun = new Works(fleet, sizes.responses)
    const kills = await killInTurn(fleet, begun, sizes.rounds, seededRandom(sizes.seed))
    const works = await begun.accepted()
    await waitForEnds(fleet, sizes.responses)
    await auditBackground({ fleet, checks, sink, works, turns, kills })
    if (sizes.foreground === 0) return
    await loseForeground({ fleet, checks, sink, count: sizes.foreground })
    await losePostgres({ fleet, checks, sink, count: Math.ceil(sizes.foreground / 10) })
  } finally {
    await sink.close()
  }
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      responses: { type: 'string', default: '500' },
      rounds: { type: 'string', default: '10' },
      foreground: { type: 'string', default: '200' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    },
  })
  const checks = new Checks()
  const fleet = await Fleet.start({ api: 2, worker: 2 })
  try {
    await proveBackground(fleet, checks, {
      responses: Number(values.responses),
      rounds: Number(values.rounds),
      foreground: Number(values.foreground),
      seed: Number(values.seed),
    })
  } finally {
    await fleet.stop()
  }
  return checks.finish()
}

if (import.meta.main) process.exitCode = await main()
