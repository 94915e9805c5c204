import { setTimeout as sleep } from 'node:timers/promises'
import { becomesTrue } from '../../dev/engines/wait-until.ts'
import type { Fleet } from '../responses/fleet.ts'
import type { Calls } from './provider.ts'
import type { RowsFleet } from './rows-fleet.ts'

export const victims = ['worker', 'api', 'restate', 'postgres'] as const
export type Victim = (typeof victims)[number]

export interface Kill {
  readonly victim: Victim
  /** Rows that had been answered when it fell. */
  readonly at: number
  /** Rows that had asked and had no result: their calls may have been made in vain. */
  readonly inHand: readonly number[]
  readonly callsInterrupted: number
}

const awayMs = 500
/** Between one kill and the next so many are done at most, as a multiple of their share: a slow start must not miss the work. */
const aheadMax = 1.5
/** No row is asked for longer, its wait for a result to be written included. */
const inHandMsMax = 60_000
const toldEveryMs = 10_000

/** What a kill may have undone: for each row, how many of its calls. Never less than what it did. */
export class Interrupted {
  readonly kills: Kill[] = []
  readonly byRow: Uint8Array

  constructor(rows: number) {
    this.byRow = new Uint8Array(rows)
  }

  note(victim: Victim, at: number, inHand: readonly number[], { sample, grade }: Calls): void {
    let callsInterrupted = 0
    for (const row of inHand) {
      const begun = (sample[row] ?? 0) + (grade[row] ?? 0) - (this.byRow[row] ?? 0)
      this.byRow[row] = (this.byRow[row] ?? 0) + begun
      callsInterrupted += begun
    }
    this.kills.push({ victim, at, inHand, callsInterrupted })
  }
}

/** Kills everyone in turn, so often, each time another share of the rows is done. */
export async function interruptRows(
  { fleet, provider }: RowsFleet,
  { runId, rows, rounds, boundMs }: { runId: string; rows: number; rounds: number; boundMs: number },
): Promise<Interrupted> {
  const interrupted = new Interrupted(rows)
  const order = Array.from({ length: rounds }, () => victims).flat()
  const share = rows / (order.length + 1)
  const began = performance.now()
  let toldAt = began
  for (const [index, victim] of order.entries()) {
    let done = 0
    await provider.allow((index + aheadMax) * share)
    await becomesTrue(async () => {
      done = (await provider.counts()).rows
      if (performance.now() - toldAt > toldEveryMs) {
        toldAt = performance.now()
        console.log(`  ${done} of ${rows} rows`)
      }
      return done >= (index + 1) * share
    }, boundMs)
    // Before it falls: a row that ends in the moment between is counted as in hand, and one in hand never as ended.
    const before = await endedRows(fleet, runId)
    const fellMs = performance.now()
    const revive = await kill(fleet, victim)
    const moved = await provider.moved(inHandMsMax)
    const ended = victim === 'worker' ? await endedRows(fleet, runId) : before
    const inHand = victim === 'api' ? [] : moved.filter((row) => !ended.has(row))
    interrupted.note(victim, done, inHand, await provider.calls())
    await sleep(awayMs)
    await revive()
    const [at, away] = [fellMs - began, performance.now() - fellMs].map((ms) => `${(ms / 1_000).toFixed(1)} s`)
    console.log(`  ${at}: killed ${victim} after ${done} rows, ${inHand.length} in hand; back after ${away}`)
  }
  await provider.allow(Infinity)
  return interrupted
}

async function endedRows({ db }: Fleet, runId: string): Promise<Set<number>> {
  const { rows } = await db.query<{ n: number }>('select n from evals.result where run_id = $1', [runId])
  return new Set(rows.map(({ n }) => n))
}

/** Gives how to start it again. */
async function kill(fleet: Fleet, victim: Victim): Promise<() => Promise<void>> {
  if (victim === 'api' || victim === 'worker') {
    const node = fleet.of(victim, 0)
    await node.process.kill9()
    return async () => {
      await node.process.start()
      await node.waitReady()
    }
  }
  const engine = victim === 'restate' ? fleet.stack.restate : fleet.stack.postgres
  if (engine === null) throw new Error(`${victim} is not ours to kill`)
  await engine.kill9()
  return () => engine.restart()
}
