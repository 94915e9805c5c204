import { readFileSync } from 'node:fs'

interface World {
  readonly hosts: Readonly<Record<'secret' | 'open' | 'other' | 'neighbour' | 'unlisted', HostOfWorld>>
  readonly rebind: { readonly name: string; readonly first: string; readonly then: string }
  readonly wildcard: string
  readonly machine: BothAddresses
  readonly resolver: BothAddresses
  readonly inwardZone: string
  readonly inward: Readonly<Record<string, readonly string[]>>
}

interface BothAddresses {
  readonly v4: string
  readonly v6: string
}

interface HostOfWorld extends BothAddresses {
  readonly name: string
}

export const insideFolder = new URL('inside/', import.meta.url)

/** Names and addresses of the internet that is played; the programs inside read the same file. */
export const world = JSON.parse(readFileSync(new URL('world.json', insideFolder), 'utf8')) as World

/** Where names that an organisation lists may lead. The machine itself lies outside. */
export const allowedRanges: readonly string[] = ['198.51.100.128/25', '2001:db8:e5c:a::/64']

const { secret, open, other, neighbour } = world.hosts

/** What the organisation lists: names that lead outside, and some that were pointed inwards. */
export const organizationDomains: readonly string[] = [
  secret.name,
  open.name,
  other.name,
  neighbour.name,
  world.rebind.name,
  `*.${world.wildcard}`,
  `*.${world.inwardZone}`,
]

/** What the container that attacks lists: all of that but its neighbour's host. */
export const attackerDomains = organizationDomains.filter((domain) => domain !== neighbour.name)

export const certificateNames: readonly string[] = [
  ...Object.values(world.hosts).map(({ name }) => name),
  world.rebind.name,
  `*.${world.wildcard}`,
  `*.${world.inwardZone}`,
]

/** Which host may be found at an address. */
export const nameAt: ReadonlyMap<string, string> = new Map([
  ...[secret, open, other, neighbour].flatMap(({ name, v4, v6 }) => [[v4, name] as const, [v6, name] as const]),
  [world.rebind.first, world.rebind.name] as const,
])

export function isListedName(name: string): boolean {
  const below = (zone: string) => name.endsWith(`.${zone}`)
  return organizationDomains.includes(name) || below(world.wildcard) || below(world.inwardZone)
}
