import { execFileSync } from 'node:child_process'
import Docker from 'dockerode'
import { sleep } from '#platform/std/clock.ts'
import type { Checks } from '../load/checks.ts'
import { boxesOf } from './boxes-on-disk.ts'
import { egressOf, mountsUnder } from './fleet-folder.ts'
import { poolSize, type Host, type SandboxFleet } from './sandbox-fleet.ts'

const settledMs = 45_000
const pollMs = 500
const mountsPerBox = 2
const loopsMs = 10_000

/** Whatever a host has is what the records say it has. Asked again until it is so, or not in time. */
export async function auditRemains(fleet: SandboxFleet, checks: Checks, hosts: readonly Host[]): Promise<void> {
  const deadline = performance.now() + settledMs
  let wrong = await remainsOf(fleet, hosts)
  while (wrong.length > 0 && performance.now() < deadline) {
    await sleep(pollMs)
    wrong = await remainsOf(fleet, hosts)
  }
  const boxes = hosts.flatMap(({ dir }) => boxesOf(dir))
  checks.expect(
    'no orphan: engine, folders, mounts and loop devices hold the boxes of live containers and the pool, and nothing else',
    wrong.length === 0,
    `${boxes.filter(({ containerId }) => containerId !== null).length} live, ${boxes.length} boxes; ${wrong.join('; ')}`,
  )
}

async function remainsOf(fleet: SandboxFleet, hosts: readonly Host[]): Promise<string[]> {
  const wrong: string[] = []
  const docker = new Docker({ socketPath: fleet.docker.socket })
  for (const host of hosts) {
    const say = (text: string) => wrong.push(`${host.node.name}: ${text}`)
    const boxes = boxesOf(host.dir)
    const live = await liveOf(fleet, host)
    const inEngine = await docker.listContainers({ all: true, filters: { label: [`switchyard.host=${host.id}`] } })
    const known = new Set(boxes.map(({ engineId }) => engineId))
    const strays = inEngine.filter(({ Id }) => !known.has(Id))
    if (strays.length > 0) say(`${strays.length} containers of the engine without a box`)
    const claimed = boxes.flatMap(({ containerId }) => (containerId === null ? [] : [containerId]))
    const dead = claimed.filter((id) => !live.has(id))
    if (dead.length > 0) say(`${dead.length} boxes of containers that are over`)
    if (new Set(claimed).size !== claimed.length) say('two boxes of one container')
    const waiting = boxes.length - claimed.length
    if (waiting > poolSize) say(`${waiting} boxes wait in a pool of ${poolSize}`)
    const mounts = mountsUnder(host.dir)
    if (mounts.length !== mountsPerBox * boxes.length) say(`${mounts.length} mounts for ${boxes.length} boxes`)
    const loops = loopsUnder(host.dir)
    if (loops !== boxes.length) say(`${loops} loop devices for ${boxes.length} boxes`)
  }
  return wrong
}

async function liveOf(fleet: SandboxFleet, { id }: Host): Promise<Set<string>> {
  const { rows } = await fleet.db.query<{ id: string }>(
    `select id from containers.container where host_id = $1 and status in ('active', 'reserved')`,
    [id],
  )
  return new Set(rows.map((row) => row.id))
}

function loopsUnder(folder: string): number {
  const listed = execFileSync('losetup', ['--list', '--noheadings', '--output', 'BACK-FILE'], { timeout: loopsMs })
  const files = listed.toString().split('\n')
  return files.filter((file) => file.trim().startsWith(`${folder}/`)).length
}

/** The proxy of each host, by the process that runs it; null where none was needed. */
export async function egressPids(hosts: readonly Host[]): Promise<(number | null)[]> {
  return await Promise.all(
    hosts.map(({ dir }) =>
      egressOf(dir)
        .ping()
        .then(
          ({ pid }) => pid,
          () => null,
        ),
    ),
  )
}
