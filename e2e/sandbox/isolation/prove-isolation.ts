import { setTimeout as delay } from 'node:timers/promises'
import { HostedContainer, type Entry } from '../../../server/src/modules/containers/testing/hosted-shell.ts'
import type { SandboxApp } from '../../../server/src/modules/containers/testing/sandbox-app.ts'
import type { Checks } from '../../load/checks.ts'
import { attacks, type Attack } from './attacks.ts'
import { proveFiles } from './files.ts'
import { useOf, type MachineUse } from './machine.ts'
import { Neighbour } from './neighbour.ts'

/** What was promised on a quiet machine, and what fails the run on a busy one. */
const ratioTarget = 3
const ratioMax = 6
/** The one refusal that is right: the container is full, says so, and says what comes next. */
const restartPromised = /not started[^]*restarted with the next command/
const settleMs = 30_000
const processesOfOne = 2
const hostGrowthMbMax = 300

export interface IsolationSizes {
  /** Parts of names of attacks, or `files`; empty: all. */
  readonly only: readonly string[]
  /** Between two attacks, so that the neighbour is also seen in peace. */
  readonly quietMs: number
}

/** Every attack in a container of its own, with quiet between them; then the machine is as it was. */
export async function proveIsolation(
  app: SandboxApp,
  runtime: string,
  checks: Checks,
  { only, quietMs }: IsolationSizes,
): Promise<void> {
  const isChosen = (name: string) => only.length === 0 || only.some((part) => name.includes(part))
  const quietOne = await HostedContainer.create(app)
  await quietOne.sh('echo neighbour-canary > /mnt/data/canary.txt')
  const neighbour = new Neighbour(quietOne)
  const before = await settled(app)
  neighbour.start()
  let hostMbMax = 0
  for (const attack of attacks.filter(({ name }) => isChosen(name))) {
    neighbour.during('quiet')
    await delay(quietMs)
    neighbour.during('attack')
    const container = await HostedContainer.create(app)
    await container.sh('echo kept > /mnt/data/kept.txt')
    await meet(container, attack, runtime, checks)
    hostMbMax = Math.max(hostMbMax, (await useOf(app)).hostMb)
    await container.remove()
  }
  neighbour.during('quiet')
  await delay(quietMs)
  if (only.length === 0 || only.includes('files')) await proveFiles(app, runtime, checks, neighbour)
  hostMbMax = Math.max(hostMbMax, (await useOf(app)).hostMb)
  await neighbour.stop()
  tellNeighbour(neighbour, runtime, checks)
  await expectAsBefore(app, before, runtime, checks)
  const grown = hostMbMax - before.hostMb
  checks.expect(
    `${runtime}: the host's own memory stays bounded under all of it`,
    grown <= hostGrowthMbMax,
    `${grown} MB above ${before.hostMb} MB`,
  )
}

/** The neighbour's machine, and the one that waits in the pool. */
async function settled(app: SandboxApp): Promise<MachineUse> {
  const until = Date.now() + settleMs
  let now = await useOf(app)
  while (now.machines < 2 && Date.now() < until) {
    await delay(500)
    now = await useOf(app)
  }
  return now
}

async function meet(container: HostedContainer, attack: Attack, runtime: string, checks: Checks): Promise<void> {
  const began = performance.now()
  const entry = await container.sh(attack.command, { timeoutMs: attack.timeoutMs }).catch(asEntry)
  const seconds = ((performance.now() - began) / 1_000).toFixed(1)
  checks.expect(`${runtime}: ${attack.name}`, attack.met(entry, runtime), `${seconds} s, ${shortly(entry)}`)
  const look = () => container.sh('echo ok; cat /mnt/data/kept.txt').catch(asEntry)
  let after = await look()
  if (restartPromised.test(after.stderr)) after = await look()
  checks.expect(`${runtime}: ${attack.name}: the container works on`, after.stdout === 'ok\nkept\n', shortly(after))
}

const asEntry = (error: unknown): Entry => ({
  stdout: '',
  stderr: `THROWN ${String(error)}`,
  outcome: { type: 'exit', exit_code: -1 },
})

const shortly = ({ outcome, stdout, stderr }: Entry) =>
  `${outcome.type === 'exit' ? `exit ${outcome.exit_code}` : 'timeout'}; stdout ${JSON.stringify(stdout.slice(0, 400))}; stderr ${JSON.stringify(stderr.slice(-200))}`

function tellNeighbour(neighbour: Neighbour, runtime: string, checks: Checks): void {
  const [quiet, attack] = [neighbour.percentile('quiet', 0.99), neighbour.percentile('attack', 0.99)]
  const ratio = attack / quiet
  const detail = `p99 ${quiet.toFixed(0)} ms of ${neighbour.count('quiet')} quiet, ${attack.toFixed(0)} ms of ${neighbour.count('attack')} attacked; ratio ${ratio.toFixed(2)}, target ${ratioTarget}; p50 ${neighbour.percentile('quiet', 0.5).toFixed(0)} and ${neighbour.percentile('attack', 0.5).toFixed(0)} ms`
  checks.expect(`${runtime}: a neighbour's commands go on`, ratio <= ratioMax, detail)
  checks.expect(
    `${runtime}: none of a neighbour's commands fails`,
    neighbour.failed.length === 0,
    neighbour.failed.slice(0, 3).join('; '),
  )
}

/** Deleting takes a moment; what is not back by then is a leak. */
async function expectAsBefore(app: SandboxApp, before: MachineUse, runtime: string, checks: Checks): Promise<void> {
  const until = Date.now() + settleMs
  const same = (now: MachineUse) =>
    now.machines <= before.machines &&
    // A machine that had just begun when it was counted has its two processes by now.
    now.processes <= Math.max(before.processes, processesOfOne * now.machines) &&
    now.mounts <= before.mounts &&
    now.loops <= before.loops &&
    now.watches <= before.watches &&
    now.descriptors <= before.descriptors + 10
  let now = await useOf(app)
  while (!same(now) && Date.now() < until) {
    await delay(500)
    now = await useOf(app)
  }
  checks.expect(
    `${runtime}: machines, processes, mounts, loop devices, watches and descriptors are as before`,
    same(now),
    `${JSON.stringify(before)} -> ${JSON.stringify(now)}`,
  )
}
