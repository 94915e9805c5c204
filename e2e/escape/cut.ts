import { becomesTrue } from '../../dev/engines/wait-until.ts'
import { allowDomains, type Attacker } from './attacker.ts'
import type { InternetEvent } from './internet.ts'
import type { Runtime, Scene } from './suite.ts'
import { organizationDomains, world } from './world.ts'

/** A second between two looks at the list, and the time of the look. */
const cutBoundMs = 2_000
const openMs = 60_000
const closedMs = 20_000

/** Opens a connection of each kind, takes their hosts off the organisation's list, and sees how long they last. */
export async function measureCut(scene: Scene, runtime: Runtime, attacker: Attacker): Promise<number> {
  const { fleet, internet, checks } = scene
  const { secret, open } = world.hosts
  const from = [`https://${open.name}/ticks`, `http://${open.name}/ticks`, `https://${secret.name}/ticks`]
  const fetches = from.map((address) => `curl --silent --no-buffer --max-time 60 ${address} >/dev/null; echo $?`)
  await scene.seen()
  const running = attacker.run(`${fetches.map((fetch) => `(${fetch}) &`).join(' ')} wait`)
  const kept: InternetEvent[] = []
  const all = async (kind: InternetEvent['kind'], boundMs: number) =>
    await becomesTrue(async () => {
      kept.push(...(await internet.take()))
      return kept.filter((event) => event.kind === kind).length >= from.length
    }, boundMs)
  const opened = await all('ticking', openMs)
  await allowDomains(
    fleet,
    organizationDomains.filter((domain) => domain !== open.name && domain !== secret.name),
  )
  const removedAt = Date.now()
  const closed = await all('cut', closedMs)
  const cuts = kept.flatMap((event) => (event.kind === 'cut' ? [event.at - removedAt] : []))
  const lastMs = Math.max(0, ...cuts)
  const held = opened && closed && lastMs <= cutBoundMs
  checks.expect(`${runtime}: open connections end when their domain is removed`, held, `after ${lastMs} ms`)
  await running
  const { stdout } = await attacker.run(`curl --silent --max-time 10 http://${open.name}/`)
  checks.expect(`${runtime}: and no new one opens`, stdout.includes('domain_not_allowed'), stdout)
  await allowDomains(fleet, organizationDomains)
  return lastMs
}
