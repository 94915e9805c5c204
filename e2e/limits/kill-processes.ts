import { sleep } from '#platform/std/clock.ts'
import { becomesTrue } from '../../dev/engines/wait-until.ts'
import type { ApiOrWorker, Fleet } from '../responses/fleet.ts'
import type { RequestLoad } from './request-load.ts'

export interface Kill {
  readonly name: string
  readonly role: ApiOrWorker
  readonly at: number
}

const workBoundMs = 60_000
/** A kill falls when all but so many requests of its share have been begun. */
const waitingMax = 4
const openMin = 8
const awayMs = 500

/** In each round an api process and a worker are killed with -9 in the middle of their work, and started again. */
export async function killProcesses(
  fleet: Fleet,
  load: RequestLoad,
  sizes: { readonly api: number; readonly worker: number; readonly kills: number },
  random: () => number,
): Promise<Kill[]> {
  const kills: Kill[] = []
  for (let round = 1; round <= sizes.kills; round += 1) {
    load.allow(round / (sizes.kills + 1))
    const busy = () => load.waiting <= waitingMax && fleet.double.open() >= openMin
    if (!(await becomesTrue(busy, workBoundMs))) throw new Error('there is no work for a kill to fall into')
    const victims = (['api', 'worker'] as const).map((role) => fleet.of(role, Math.floor(random() * sizes[role])))
    const open = fleet.double.open()
    for (const { name, roles, process: victim } of victims) {
      await victim.kill9()
      kills.push({ name, role: roles as ApiOrWorker, at: Date.now() })
    }
    console.log(`  round ${round}: killed ${victims.map(({ name }) => name).join(' and ')}, ${open} model calls open`)
    await sleep(awayMs)
    for (const victim of victims) await victim.process.start()
    await Promise.all(victims.map((victim) => victim.waitReady()))
  }
  return kills
}
