import { sleep } from '#platform/std/clock.ts'
import { becomesTrue } from '../../dev/engines/wait-until.ts'
import type { Works } from './background-works.ts'
import type { ApiOrWorker, Fleet } from './fleet.ts'

export type Victim = ApiOrWorker | 'restate' | 'postgres'

const victims: readonly Victim[] = ['worker', 'api', 'restate', 'postgres']
/** Between one kill and the next, and how long a victim stays away. */
const gapMs = { least: 500, most: 1_500 }
const awayMs = { least: 100, most: 1_000 }

export interface Kill {
  readonly victim: Victim
  readonly fromMs: number
  readonly backMs: number
  /** Answers of the provider under way when it fell. */
  readonly turnsOpen: number
}

const between = (random: () => number, { least, most }: { least: number; most: number }) =>
  least + random() * (most - least)

/** How long a kill waits for work to meet. */
const workBoundMs = 20_000

/** Before each kill a share of the work is begun, so that every one of them falls into some. */
export async function killInTurn(fleet: Fleet, works: Works, rounds: number, random: () => number): Promise<Kill[]> {
  const kills: Kill[] = []
  for (let round = 1; round <= rounds; round += 1) {
    for (const victim of victims) {
      works.begin((kills.length + 1) / (rounds * victims.length))
      await sleep(between(random, gapMs))
      await becomesTrue(() => fleet.double.open() > 0, workBoundMs)
      kills.push(await killOne(fleet, victim, random))
    }
    const told = kills.slice(-victims.length).map((kill) => `${kill.victim} (${kill.turnsOpen} turns open)`)
    console.log(`  round ${round} of ${rounds}: killed ${told.join(', ')}`)
  }
  return kills
}

export async function killOne(fleet: Fleet, victim: Victim, random: () => number): Promise<Kill> {
  const fromMs = performance.now()
  const turnsOpen = fleet.double.open()
  if (victim === 'api' || victim === 'worker') {
    const node = fleet.of(victim, random() < 0.5 ? 0 : 1)
    await node.process.kill9()
    await sleep(between(random, awayMs))
    await node.process.start()
    await node.waitReady()
  } else {
    const engine = victim === 'restate' ? fleet.stack.restate : fleet.stack.postgres
    await engine?.kill9()
    await sleep(between(random, awayMs))
    await engine?.restart()
  }
  return { victim, fromMs, backMs: performance.now(), turnsOpen }
}
