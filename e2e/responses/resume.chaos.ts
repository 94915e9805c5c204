/**
 * Every event once, in order: background streams, each cut at three random events and resumed with `starting_after` on the
 * other api node. The union has every number once; it is what a replay says; the SDK's strict helper accepts both. Then the
 * same while Valkey is wiped and restarted and a worker is killed with -9 in the middle.
 *
 *   node e2e/responses/resume.chaos.ts --streams 200
 */
import { Redis } from 'iovalkey'
import { parseArgs } from 'node:util'
import { sleep } from '#platform/std/clock.ts'
import { seededRandom } from '../chaos/seeded-random.ts'
import { Checks } from '../load/checks.ts'
import { eachOf } from './audit-background.ts'
import { Fleet } from './fleet.ts'
import { followCut, replay, strictText, type Followed } from './follow-stream.ts'
import { killOne } from './kill-in-turn.ts'
import { finalTextOf, followScript } from './scripted-work.ts'

const cutsPerStream = 3
const pace = { slowMs: 30 }
/** Streams begin over this long, so that the harm meets all stages of a response. */
const beginWithinMs = 4_000
const harmAfterMs = 3_000
const shownMax = 3

interface Round {
  readonly name: string
  readonly firstWork: number
  readonly streams: number
  readonly harm: () => Promise<void>
}

async function run(fleet: Fleet, checks: Checks, round: Round, random: () => number): Promise<void> {
  const { name, streams, firstWork } = round
  const begun = performance.now()
  const following = Array.from({ length: streams }, async (_none, index) => {
    await sleep((index * beginWithinMs) / streams)
    return await followCut(fleet, firstWork + index, cutsPerStream, random)
  })
  const [followed] = await Promise.all([Promise.all(following), round.harm()])
  const seconds = ((performance.now() - begun) / 1_000).toFixed(1)
  judgeUnions(checks, name, followed)
  const judged = await eachOf(followed, (one) => judgeHelper(fleet, one))
  const wrong = judged.flat()
  const incomplete = followed.flatMap(({ events }) =>
    events
      .filter((event) => event.type === 'response.output_item.done' && event.item.type !== 'compaction')
      .filter((event) => 'item' in event && 'status' in event.item && event.item.status === 'incomplete'),
  )
  checks.expect(
    `${name}: a replay says the same, and the strict helper takes both, with the right last word`,
    wrong.length === 0,
    wrong.length === 0
      ? `${streams} streams in ${seconds} s, ${incomplete.length} items of dead attempts closed as incomplete`
      : wrong.slice(0, shownMax).join('; '),
  )
}

function judgeUnions(checks: Checks, name: string, followed: readonly Followed[]): void {
  const wrong = followed.filter(({ events }) => events.some((event, at) => event.sequence_number !== at))
  const total = followed.reduce((sum, { events }) => sum + events.length, 0)
  const cuts = followed.reduce((sum, one) => sum + one.cuts, 0)
  const broken = followed.reduce((sum, one) => sum + one.broken, 0)
  checks.expect(
    `${name}: the union of each stream has every number once, in order`,
    wrong.length === 0 && cuts === followed.length * cutsPerStream,
    `${total} events, ${cuts} cuts, ${broken} broken connections besides`,
  )
}

async function judgeHelper(fleet: Fleet, { responseId, work, events }: Followed): Promise<string[]> {
  const wanted = finalTextOf(work)
  const stored = await replay(fleet, responseId)
  const found: string[] = []
  if (JSON.stringify(stored) !== JSON.stringify(events)) found.push(`${responseId}: a replay differs from the union`)
  const told = await strictText(events).catch((error: unknown) => `refused: ${String(error)}`)
  if (told !== wanted) found.push(`${responseId}: the strict helper says of the union: ${told}`)
  try {
    const final = await fleet
      .client(work % 2)
      .responses.stream({ response_id: responseId })
      .finalResponse()
    if (final.output_text !== wanted) found.push(`${responseId}: the strict helper reads ${final.output_text}`)
  } catch (error) {
    found.push(`${responseId}: the strict helper refuses the replay: ${String(error)}`)
  }
  return found
}

async function wipeValkey(fleet: Fleet): Promise<void> {
  const { valkey } = fleet.stack
  const client = new Redis(valkey?.url ?? '')
  try {
    await client.flushall()
  } finally {
    client.disconnect()
  }
  await valkey?.kill9()
  await sleep(harmAfterMs / 3)
  await valkey?.restart()
}

export async function proveResume(
  fleet: Fleet,
  checks: Checks,
  size: { streams: number; seed: number },
): Promise<void> {
  const { streams } = size
  const random = seededRandom(size.seed)
  console.log(`seed ${size.seed}, ${streams} streams, each cut ${cutsPerStream} times`)
  followScript(fleet.double, pace)
  await run(fleet, checks, { name: 'in peace', firstWork: 1, streams, harm: async () => undefined }, random)
  const harm = async () => {
    await sleep(harmAfterMs)
    await wipeValkey(fleet)
    await killOne(fleet, 'worker', random)
  }
  const name = 'Valkey wiped, a worker killed'
  await run(fleet, checks, { name, firstWork: streams + 1, streams, harm }, random)
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      streams: { type: 'string', default: '200' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    },
  })
  const checks = new Checks()
  const fleet = await Fleet.start({ api: 2, worker: 2, apart: true })
  try {
    await proveResume(fleet, checks, { streams: Number(values.streams), seed: Number(values.seed) })
  } finally {
    await fleet.stop()
  }
  return checks.finish()
}

if (import.meta.main) process.exitCode = await main()
