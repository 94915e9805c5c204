import type { Bypass } from './bypasses.ts'
import type { InternetEvent } from './internet.ts'
import type { Packet } from './packets.ts'
import { isListedName, nameAt, world } from './world.ts'

/** One try, as the program inside tells it. */
export interface Try {
  readonly attempt: string
  readonly got: string
  readonly through: boolean
}

/** What a program said, line by line. */
export interface Told {
  readonly tries: readonly Try[]
  readonly control: boolean
  readonly controlGot: string
  readonly notesHold: boolean
}

/** What was seen of it from outside. */
export interface Seen {
  readonly packets: readonly Packet[]
  readonly events: readonly InternetEvent[]
  /** Connections to the machine itself. */
  readonly doors: readonly string[]
}

export interface Verdict {
  readonly bypass: Bypass
  readonly blocked: boolean
  readonly why: readonly string[]
  readonly tries: number
  readonly how: readonly string[]
  readonly strayPackets: number
  readonly listedPackets: number
}

type Line = Partial<Try> & { control?: boolean; note?: string; holds?: boolean }

export function readTold(stdout: string): Told {
  const lines = stdout
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as Line)
  const control = lines.find((line) => line.control !== undefined)
  return {
    tries: lines.filter((line): line is Line & Try => line.attempt !== undefined),
    control: control?.control === true,
    controlGot: control?.got ?? 'it did not come to it',
    notesHold: lines.every((line) => line.note === undefined || line.holds === true),
  }
}

/** Everything that arrived and is neither a question to the resolver nor http(s) to a listed host. */
export function strayPackets(packets: readonly Packet[]): Packet[] {
  const resolvers: readonly string[] = [world.resolver.v4, world.resolver.v6]
  return packets.filter(({ to, protocol, port }) => {
    if (protocol === 'udp' && port === 53) return !resolvers.includes(to)
    return !(protocol === 'tcp' && (port === 80 || port === 443) && nameAt.has(to))
  })
}

/** What no server should have seen. */
export function strayEvents(events: readonly InternetEvent[], secret: string): string[] {
  return events.flatMap((event) => {
    if (event.kind === 'question') return isListedName(event.name) ? [] : [`a question for ${event.name}`]
    if (event.kind === 'connection') return [`a connection to ${event.address}:${event.port}`]
    if (event.kind === 'relay') return [`a relay to ${event.url}`]
    if (event.kind !== 'request' && event.kind !== 'upgrade') return []
    const { host, address, url, expected, headers, secure } = event
    const found = expected && !url.includes('smuggled') ? [] : [`${host}${url} at ${address}`]
    const key = headers.some((text) => text.includes(secret))
    if (key && !(secure && host === world.hosts.secret.name)) found.push(`the secret at ${host} ${address}`)
    return found
  })
}

export function judge(bypass: Bypass, told: Told, seen: Seen, secret: string): Verdict {
  const stray = strayPackets(seen.packets)
  const controlled = seen.packets.filter(({ to }) => nameAt.get(to) === world.hosts.open.name).length
  const why = [
    ...told.tries.filter(({ through }) => through).map(({ attempt, got }) => `${attempt}: ${got}`),
    ...new Set(stray.map(({ to, protocol, port }) => `${protocol} packets to ${to} ${port}`)),
    ...new Set(strayEvents(seen.events, secret)),
    ...seen.doors.map((door) => `a connection to the machine: ${door}`),
    ...(told.tries.length > 0 ? [] : ['nothing was tried']),
    ...(told.control && controlled > 0 ? [] : [`the allowed way did not work: ${told.controlGot}`]),
    ...(told.notesHold ? [] : ['the attempt did not get as far as it should']),
  ]
  return {
    bypass,
    blocked: why.length === 0,
    why,
    tries: told.tries.length,
    how: outcomes(told.tries),
    strayPackets: stray.length,
    listedPackets: controlled,
  }
}

/** How the tries ended, most frequent first. */
function outcomes(tries: readonly Try[]): string[] {
  const counts = new Map<string, number>()
  for (const { got } of tries) {
    const short = shorten(got)
    counts.set(short, (counts.get(short) ?? 0) + 1)
  }
  return [...counts].toSorted((one, other) => other[1] - one[1]).map(([text, count]) => `${text} ×${count}`)
}

/** Without what differs from run to run. */
function shorten(got: string): string {
  if (/^(?:101|200) .*welcome/.test(got)) return 'answered by the listed host itself'
  const refusal = /"(?:code|reason)": ?"([a-z_]+)"/.exec(got)?.[1]
  if (refusal !== undefined) return `403 ${refusal}`
  return got.replaceAll(/\s+/g, ' ').replaceAll('|', '/').slice(0, 60)
}
