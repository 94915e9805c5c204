/**
 * Nothing runs twice, nothing is lost: background responses of four hosted shell calls each, while worker, api, a sandbox
 * host, dockerd and Restate are killed with -9 in turn, and one host goes for good. Every command leaves a line under
 * /mnt/data; the lines are counted on the disks. Each response finishes, or says that its host is gone; no container, mount
 * or loop device is left that nothing needs.
 *
 *   node e2e/sandbox/durable.chaos.ts --responses 100 --rounds 10 --runtime runc
 */
import { parseArgs } from 'node:util'
import { sleep } from '#platform/std/clock.ts'
import { Checks } from '../load/checks.ts'
import { seededRandom } from '../chaos/seeded-random.ts'
import { eachOf } from '../responses/audit-background.ts'
import { EventSink } from '../responses/event-sink.ts'
import { auditDurable } from './audit-durable.ts'
import { auditRemains, egressPids } from './audit-remains.ts'
import { killInTurn, loseHost } from './kill-sandbox.ts'
import { favouredMemoryMb, SandboxFleet, type Host } from './sandbox-fleet.ts'
import { followShellScript } from './shell-work.ts'
import { allowNetwork, isCancelled, ShellWorks } from './shell-works.ts'

export interface DurableSizes {
  readonly responses: number
  readonly rounds: number
  readonly seed: number
}

/** Begun before the host goes that they will be on. */
const lostShare = 0.25
const endedMs = 900_000
const pollMs = 500

/** Leaves the containers that are still live, for the audit of what is left. Returns the host that is gone. */
export async function proveDurable(fleet: SandboxFleet, checks: Checks, sizes: DurableSizes): Promise<Host> {
  console.log(`seed ${sizes.seed}, ${sizes.responses} responses, ${sizes.rounds} rounds of kills`)
  const sink = new EventSink()
  try {
    await fleet.client().post('/webhook_endpoints', {
      body: {
        name: 'sink',
        url: await sink.listen(),
        event_types: ['response.completed', 'response.failed', 'response.incomplete', 'response.cancelled'],
      },
    })
    await allowNetwork(fleet)
    followShellScript(fleet.double, isCancelled)
    const begun = new ShellWorks(fleet, sizes.responses)
    const lost = await fleet.addHost(favouredMemoryMb)
    begun.begin(lostShare)
    const open = await loseHost(fleet, lost)
    console.log(`  a host is gone for good, with ${open} commands open`)
    const proxies = await egressPids(fleet.hosts)
    const random = seededRandom(sizes.seed)
    const kills = await killInTurn(fleet, begun, { rounds: sizes.rounds, from: lostShare, random, lost })
    const works = await begun.accepted()
    await waitForEnds(fleet, sizes.responses)
    await auditDurable({ fleet, checks, sink, works, kills, lost })
    const after = await egressPids(fleet.hosts)
    const changed = proxies.filter((pid, at) => pid !== null && pid !== after[at])
    checks.expect('egress proxies live through all of it, one a host', changed.length === 0, after.join(', '))
    return lost
  } finally {
    await sink.close()
  }
}

async function waitForEnds(fleet: SandboxFleet, count: number): Promise<void> {
  const deadline = performance.now() + endedMs
  while (performance.now() < deadline) {
    const { rows } = await fleet.db.query<{ ended: number }>(
      'select count(*)::int as ended from responses.response where ended_status is not null',
    )
    if ((rows[0]?.ended ?? 0) >= count) return
    await sleep(pollMs)
  }
  console.log(`  not everything ended within ${endedMs / 1_000} s`)
}

/** What is live now is what is on the disks; deleted through the API, nothing is. */
export async function proveNothingLeft(fleet: SandboxFleet, checks: Checks, lost: Host): Promise<void> {
  const living = fleet.hosts.filter((host) => host !== lost)
  await auditRemains(fleet, checks, living)
  const client = fleet.client()
  const ids: string[] = []
  for await (const { id } of client.containers.list({ limit: 100 })) ids.push(id)
  await eachOf(ids, async (id) => await client.containers.delete(id))
  await auditRemains(fleet, checks, living)
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      responses: { type: 'string', default: '100' },
      rounds: { type: 'string', default: '10' },
      runtime: { type: 'string', default: 'runc' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    },
  })
  const checks = new Checks()
  const fleet = await SandboxFleet.start({ runtime: values.runtime, hosts: 2 })
  try {
    const sizes = { responses: Number(values.responses), rounds: Number(values.rounds), seed: Number(values.seed) }
    const lost = await proveDurable(fleet, checks, sizes)
    await proveNothingLeft(fleet, checks, lost)
  } finally {
    await fleet.stop()
  }
  return checks.finish()
}

if (import.meta.main) process.exitCode = await main()
