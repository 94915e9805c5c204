import { sleep } from '#platform/std/clock.ts'
import { becomesTrue } from '../../dev/engines/wait-until.ts'
import Docker from 'dockerode'
import { commandsOpen } from './boxes-on-disk.ts'
import type { Host, SandboxFleet } from './sandbox-fleet.ts'
import type { ShellWorks } from './shell-works.ts'

const victims = ['worker', 'api', 'sandbox', 'docker', 'restate'] as const
export type Victim = (typeof victims)[number]

export interface SandboxKill {
  readonly victim: Victim
  readonly commandsOpen: number
  readonly awayMs: number
}

const gapMs = { least: 200, most: 1_500 }
const awayMs = { least: 100, most: 1_500 }
/** How long a kill waits for work to meet. */
const workMs = 20_000
const silentMs = 60_000

const between = (random: () => number, { least, most }: { least: number; most: number }) =>
  least + random() * (most - least)

/** Before each kill a share of the work is begun, so that every one of them falls into some. */
export async function killInTurn(
  fleet: SandboxFleet,
  works: ShellWorks,
  { rounds, from, random, lost }: { rounds: number; from: number; random: () => number; lost: Host },
): Promise<SandboxKill[]> {
  const kills: SandboxKill[] = []
  const living = fleet.hosts.filter((host) => host !== lost)
  for (let round = 1; round <= rounds; round += 1) {
    for (const victim of victims) {
      works.begin(from + ((1 - from) * (kills.length + 1)) / (rounds * victims.length))
      await sleep(between(random, gapMs))
      await becomesTrue(() => living.some(({ dir }) => commandsOpen(dir) > 0), workMs)
      kills.push(await killOne(fleet, victim, random, living))
    }
    const told = kills.slice(-victims.length).map((kill) => `${kill.victim} (${kill.commandsOpen} commands open)`)
    console.log(`  round ${round} of ${rounds}: killed ${told.join(', ')}`)
  }
  return kills
}

async function killOne(
  fleet: SandboxFleet,
  victim: Victim,
  random: () => number,
  living: readonly Host[],
): Promise<SandboxKill> {
  const begun = performance.now()
  const open = living.reduce((sum, { dir }) => sum + commandsOpen(dir), 0)
  const away = between(random, awayMs)
  if (victim === 'docker' || victim === 'restate') {
    const engine = victim === 'docker' ? fleet.docker : fleet.stack.restate
    await engine.kill9()
    await sleep(away)
    await engine.restart()
  } else {
    const busiest = living.toSorted((a, b) => commandsOpen(b.dir) - commandsOpen(a.dir))[0]
    const node = victim === 'sandbox' ? busiest?.node : fleet.of(victim)
    await node?.process.kill9()
    await sleep(away)
    await node?.process.start()
    await node?.waitReady()
  }
  return { victim, commandsOpen: open, awayMs: performance.now() - begun }
}

/** A machine that is gone for good: its process and its containers, at one moment. Waits until nothing more is given to it. */
export async function loseHost(fleet: SandboxFleet, host: Host): Promise<number> {
  await becomesTrue(() => commandsOpen(host.dir) > 0, workMs)
  const open = commandsOpen(host.dir)
  await host.node.process.kill9()
  const docker = new Docker({ socketPath: fleet.docker.socket })
  const found = await docker.listContainers({ all: true, filters: { label: [`switchyard.host=${host.id}`] } })
  await Promise.all(found.map(({ Id }) => docker.getContainer(Id).remove({ force: true, v: true })))
  const silent = async () => {
    const { rows } = await fleet.db.query(
      `select 1 from containers.host where id = $1 and seen_at < clock_timestamp() - interval '16 seconds'`,
      [host.id],
    )
    return rows.length > 0
  }
  await becomesTrue(silent, silentMs)
  return open
}
