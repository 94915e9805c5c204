import { randomBytes } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ensureImage } from '../../sandbox/runtime/ensure-image.ts'
import { testCertificates } from '../../server/src/modules/containers/egress/testing/test-ca.ts'
import type { Checks } from '../load/checks.ts'
import { SandboxFleet } from '../sandbox/sandbox-fleet.ts'
import { allowDomains } from './attacker.ts'
import { bypasses } from './bypasses.ts'
import { Capture } from './capture.ts'
import { Doors } from './doors.ts'
import { Internet } from './internet.ts'
import { judge, readTold, strayEvents, strayPackets, type Seen } from './judge.ts'
import { folderOf } from './namespaces.ts'
import type { Report } from './report.ts'
import { attack, setStage } from './attack.ts'
import { Unconfined } from './unconfined.ts'
import { allowedRanges, certificateNames, organizationDomains, world } from './world.ts'

export type Runtime = 'runc' | 'runsc'

export interface SuiteOptions {
  readonly runtimes: readonly Runtime[]
  readonly image: 'slim' | 'full'
  readonly internet: string
}

const memoryMb = 1_000_000
/** Room for what a compiler leaves. */
const diskMb = 2_048

/** Everything that an attack needs: the product, the internet, and eyes on what passes between them. */
export interface Scene {
  readonly fleet: SandboxFleet
  readonly internet: Internet
  readonly checks: Checks
  readonly secret: string
  /** What was seen since the last time. */
  seen(): Promise<Seen>
}

/** Runs in the namespace of the machine. */
export async function runSuite(options: SuiteOptions, checks: Checks): Promise<Report> {
  const ends: (() => Promise<void> | void)[] = []
  const folder = folderOf(options.internet)
  await mkdir(folder)
  try {
    const { ca, cert, key } = await testCertificates(certificateNames)
    const roots = join(folder, 'roots.pem')
    await writeFile(roots, ca)
    const internet = await Internet.start(options.internet, { cert, key })
    ends.push(() => internet.stop())
    const capture = await Capture.start(options.internet)
    ends.push(() => capture.stop())
    const doors = await Doors.open()
    ends.push(() => doors.close())
    const fleet = await SandboxFleet.start({
      runtime: 'runc',
      hosts: 0,
      image: options.image,
      settings: {
        SWITCHYARD_EGRESS_RESOLVER: `${world.resolver.v4}:53`,
        SWITCHYARD_EGRESS_ADDRESSES: allowedRanges.join(','),
        NODE_EXTRA_CA_CERTS: roots,
        SWITCHYARD_SANDBOX_DISK_MB_MAX: String(diskMb),
      },
    })
    ends.push(() => fleet.stop())
    const seen = async (): Promise<Seen> => ({
      packets: await capture.take(),
      events: await internet.take(),
      doors: doors.take(),
    })
    const scene: Scene = { fleet, internet, checks, secret: `sk-${randomBytes(16).toString('hex')}`, seen }
    return await play(scene, options, roots)
  } finally {
    for (const end of ends.toReversed()) await end()
  }
}

async function play(scene: Scene, { runtimes, image }: SuiteOptions, roots: string): Promise<Report> {
  const { fleet } = scene
  await allowDomains(fleet, organizationDomains)
  // All work goes to the host with the most memory: the new one. It starts while the one before is attacked.
  const startHost = (at: number) => {
    const env = { SWITCHYARD_SANDBOX_RUNTIME: runtimes[at] ?? '' }
    const starting = fleet.addHost(memoryMb * (at + 1), env)
    starting.catch(() => undefined)
    return starting
  }
  let starting = startHost(0)
  const unconfined = await measureUnconfined(scene, await ensureImage(image, fleet.docker.socket), roots)
  const report: Report = { image, unconfined, runtimes: [] }
  for (const [at, runtime] of runtimes.entries()) {
    const stage = await setStage(scene, await starting, runtime, image)
    if (at + 1 < runtimes.length) starting = startHost(at + 1)
    report.runtimes.push(await attack(scene, stage))
  }
  return report
}

/** How many packets each program sends that can be sent without a proxy. */
async function measureUnconfined(scene: Scene, image: string, roots: string): Promise<Map<number, number>> {
  const counts = new Map<number, number>()
  const container = await Unconfined.start(scene.fleet.docker.socket, image, roots)
  try {
    await scene.seen()
    for (const bypass of bypasses.filter(({ alsoUnconfined }) => alsoUnconfined)) {
      const { number, title } = bypass
      const told = readTold(await container.run(number))
      const seen = await scene.seen()
      const count = strayPackets(seen.packets).length + strayEvents(seen.events, scene.secret).length
      const out = count > 0 && told.control && !judge(bypass, told, seen, scene.secret).blocked
      scene.checks.expect(`unconfined ${number} ${title}: the same program gets out`, out, `${count} seen`)
      counts.set(number, count)
    }
  } finally {
    await container.stop()
  }
  return counts
}
