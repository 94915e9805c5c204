import type { Attacker } from './attacker.ts'
import type { Runtime, Scene } from './suite.ts'
import { world } from './world.ts'

export interface Trusted {
  readonly program: string
  readonly ended: boolean
  /** Null: it has its own roots beside the container's authority, and the test's public authority is not one of them. */
  readonly spliced: boolean | null
}

export const trustFolder = new URL('inside/trust/', import.meta.url)
const { secret, open } = world.hosts
const ended = `https://${secret.name}/trust`
const spliced = `https://${open.name}/trust`

const programs: readonly { name: string; command: (address: string) => string; ownRoots?: true }[] = [
  { name: 'curl', command: (address) => `curl --silent --show-error --header "X-Key: $API_KEY" ${address}` },
  { name: 'Python', command: (address) => `python3 fetch.py ${address}` },
  { name: 'Node.js', command: (address) => `node fetch.mjs ${address}`, ownRoots: true },
  { name: 'Java', command: (address) => `java Fetch.java ${address}` },
  { name: 'Go', command: (address) => `go run fetch.go ${address}` },
]

/** No program is told of proxy or certificates: each finds both where it always looks. */
export async function proveTrust(scene: Scene, runtime: Runtime, container: Attacker): Promise<Trusted[]> {
  const { checks } = scene
  const found: Trusted[] = []
  for (const { name, command, ownRoots } of programs) {
    await scene.seen()
    const inEnded = await container.run(command(ended))
    const { events } = await scene.seen()
    const arrived = events.some((event) => event.kind === 'request' && event.headers.includes(scene.secret))
    const inSpliced = ownRoots === true ? null : await container.run(command(spliced))
    const row: Trusted = {
      program: name,
      ended: inEnded.stdout.includes(`welcome ${secret.name}`) && arrived,
      spliced: inSpliced === null ? null : inSpliced.stdout.includes(`welcome ${open.name}`),
    }
    checks.expect(`${runtime}: ${name} trusts the host with a secret, and its key arrives`, row.ended, inEnded.stderr)
    if (inSpliced !== null) {
      checks.expect(`${runtime}: ${name} trusts a host without one`, row.spliced === true, inSpliced.stderr)
    }
    found.push(row)
  }
  return found
}
