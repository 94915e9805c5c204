import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import type { Host } from '../sandbox/sandbox-fleet.ts'
import { Attacker } from './attacker.ts'
import { bypasses } from './bypasses.ts'
import { measureCut } from './cut.ts'
import { judge, readTold, type Verdict } from './judge.ts'
import { proveLimits } from './limits.ts'
import type { RuntimeReport } from './report.ts'
import type { Runtime, Scene } from './suite.ts'
import { proveTrust, trustFolder } from './trust.ts'
import { attackerDomains, world } from './world.ts'

const allowlist = (domains: readonly string[], secrets: readonly object[] = []) => ({
  network_policy: {
    type: 'allowlist',
    allowed_domains: domains,
    ...(secrets.length === 0 ? {} : { domain_secrets: secrets }),
  },
})

/** The containers of one runtime. */
export interface Stage {
  readonly runtime: Runtime
  readonly host: Host
  readonly attacker: Attacker
  readonly neighbour: Attacker
  /** With the full image only. */
  readonly trusting: Attacker | null
}

export async function setStage(scene: Scene, host: Host, runtime: Runtime, image: string): Promise<Stage> {
  const { fleet, secret } = scene
  const secrets = [{ domain: world.hosts.secret.name, name: 'API_KEY', value: secret }]
  const attacker = await Attacker.create(fleet, allowlist(attackerDomains, secrets))
  const neighbour = await Attacker.create(fleet, allowlist([world.hosts.neighbour.name]))
  await attacker.bringPrograms()
  const { secret: ended, open } = world.hosts
  const trusted = { memory_limit: '4g', ...allowlist([ended.name, open.name], secrets) }
  const trusting = image === 'full' ? await Attacker.create(fleet, trusted) : null
  await trusting?.bringPrograms(trustFolder)
  return { runtime, host, attacker, neighbour, trusting }
}

/** All bypasses against one runtime, and what belongs to them. */
export async function attack(scene: Scene, stage: Stage): Promise<RuntimeReport> {
  const { runtime, host, attacker, neighbour, trusting } = stage
  const { fleet, checks, secret } = scene
  await proveNeighbour(scene, runtime, neighbour)
  const verdicts: Verdict[] = []
  for (const bypass of bypasses) {
    await scene.seen()
    const given = bypass.number === 20 ? ` '${JSON.stringify([...socketsOf(host), fleet.docker.socket])}'` : ''
    const printed = await attacker.run(`PYTHONDONTWRITEBYTECODE=1 python3 run.py ${bypass.number}${given}`)
    const verdict = judge(bypass, readTold(printed.stdout), await scene.seen(), secret)
    const detail = verdict.blocked ? `${verdict.tries} tries` : [...verdict.why, printed.stderr].join('; ')
    checks.expect(`${runtime} ${bypass.number} ${bypass.title}: blocked`, verdict.blocked, detail)
    verdicts.push(verdict)
  }
  const limits = await proveLimits(scene, runtime, attacker)
  const trust = trusting === null ? [] : await proveTrust(scene, runtime, trusting)
  const cutMs = await measureCut(scene, runtime, attacker)
  return { runtime, verdicts, limits, trust, cutMs }
}

/** The neighbour's way out works, so that taking it would be worth something. */
async function proveNeighbour({ checks }: Scene, runtime: Runtime, neighbour: Attacker): Promise<void> {
  const { name } = world.hosts.neighbour
  const { stdout } = await neighbour.run(`curl --silent --max-time 10 http://${name}/`)
  checks.expect(`${runtime}: the neighbour reaches the host that it alone lists`, stdout.includes(`welcome ${name}`))
}

/** Where the machine keeps the sockets of all boxes, and the proxy's own. */
function socketsOf({ dir }: Host): string[] {
  const boxes = readdirSync(join(dir, 'boxes')).map((name) => join(dir, 'boxes', name, 'egress', 'proxy.sock'))
  return [...boxes, join(dir, 'egress', 'control.sock')]
}
