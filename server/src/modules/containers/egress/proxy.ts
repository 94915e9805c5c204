import { BlockList, isIPv4, isIPv6, type Server } from 'node:net'
import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { createNames, dnsResolve } from '#platform/outbound/names.ts'
import { createAuthority, type Authority } from './authority.ts'
import { createDial, type Dial } from './dial.ts'
import { openListener } from './listener.ts'
import type { Passage } from './passage.ts'
import { createReceipts, type Receipts } from './receipts.ts'
import { refusalFor, type Organization, type RequestRules } from './rules.ts'
import { holdSecrets, wipeSecrets, type GivenSecret, type Secret } from './secrets.ts'
import type { Visit } from './visit.ts'

export type EgressSettings = {
  /** `ip:port` of the DNS server; without it, those of this machine. */
  resolver?: string | undefined
  /** Ranges of private networks that listed names may have addresses in. */
  addressesAllowed?: readonly string[] | undefined
}

export type AttachGiven = RequestRules & { containerId: string; organizationId: string; socketPath: string }
export type Attached = { caPem: string | null; names: { name: string; domain: string }[] }

type Parked = { secrets: Secret[]; timer: NodeJS.Timeout | null }
type Container = {
  given: AttachGiven
  secrets: Secret[]
  authority: Authority | null
  visits: Set<Visit>
  listener: Server
  refusals: { since: number; count: number }
}

/** How long secrets wait for a container without a word from the role. */
export const PARK_MS = 15 * 60_000
const CONTAINERS_MAX = 10_000
const RESOLVE_TIMEOUT_MS = 5_000
/** Refusals of one container that leave a receipt, in each window. */
const REFUSALS_MAX = 200
const REFUSALS_WINDOW_MS = 10_000
/** Long enough for the burst of connections that one program opens. */
const NAMES_TTL_MS = 2_000

/** Everything the process knows, and all of it in memory. */
export class EgressProxy {
  readonly #parked = new Map<string, Parked>()
  readonly #containers = new Map<string, Container>()
  readonly #organizations = new Map<string, Organization>()
  readonly #receipts: Receipts = createReceipts()
  readonly #parkMs: number
  #dial: Dial

  constructor(settings: EgressSettings, parkMs = PARK_MS) {
    this.#parkMs = parkMs
    this.#dial = dialFor(settings)
  }

  use(settings: EgressSettings): void {
    this.#dial = dialFor(settings)
  }

  park(containerId: string, given: readonly GivenSecret[]): void {
    if (this.#parked.size >= CONTAINERS_MAX) throw new Error('too many containers are waiting')
    const secrets = holdSecrets(given)
    this.#drop(containerId)
    const timer = setTimeout(() => this.#drop(containerId), this.#parkMs).unref()
    this.#parked.set(containerId, { secrets, timer })
  }

  /** Holds parked secrets until they are attached, taken or detached. False when there are none. */
  keep(containerId: string): boolean {
    const parked = this.#parked.get(containerId)
    if (parked === undefined) return this.#containers.has(containerId)
    if (parked.timer !== null) clearTimeout(parked.timer)
    parked.timer = null
    return true
  }

  /** Opens the way out. Asked again, as after a restart of the role, it keeps secrets, authority and connections. */
  async attach(given: AttachGiven): Promise<Attached> {
    const known = this.#containers.get(given.containerId)
    if (known === undefined && this.#containers.size >= CONTAINERS_MAX) throw new Error('too many containers')
    // Taken only once the way out is open: an attach that failed can be asked for again. They do not run out meanwhile.
    this.keep(given.containerId)
    const parked = this.#parked.get(given.containerId)?.secrets
    const secrets = parked ?? known?.secrets ?? []
    const authority = known?.authority ?? (secrets.length > 0 ? await createAuthority(given.containerId) : null)
    const visits = known?.visits ?? new Set<Visit>()
    const passage = this.#passage(given.containerId, visits)
    const open = known !== undefined && known.given.socketPath === given.socketPath && existsSync(given.socketPath)
    if (!open) known?.listener.close()
    const listener = open ? known.listener : await openListener(given.socketPath, passage)
    if (parked !== undefined) this.#takeParked(given.containerId)
    if (known !== undefined && known.secrets !== secrets) wipeSecrets(known.secrets)
    const refusals = known?.refusals ?? { since: 0, count: 0 }
    this.#containers.set(given.containerId, { given, secrets, authority, visits, listener, refusals })
    this.#cutNotAllowed(given.organizationId)
    return {
      caPem: authority?.caPem ?? null,
      names: secrets.map(({ name, domain }) => ({ name, domain })),
    }
  }

  setOrganization(organizationId: string, organization: Organization): void {
    this.#organizations.set(organizationId, organization)
    this.#cutNotAllowed(organizationId)
  }

  async detach(containerId: string): Promise<boolean> {
    const parked = this.#drop(containerId)
    const container = this.#containers.get(containerId)
    if (container === undefined) return parked
    this.#containers.delete(containerId)
    for (const visit of container.visits) visit.cut('detached')
    container.listener.close()
    await rm(container.given.socketPath, { force: true })
    wipeSecrets(container.secrets)
    return true
  }

  list(): { containerId: string; attached: boolean; hasSecrets: boolean }[] {
    const ids = new Set([...this.#containers.keys(), ...this.#parked.keys()])
    return [...ids].map((containerId) => {
      const held = this.#containers.get(containerId)?.secrets ?? this.#parked.get(containerId)?.secrets ?? []
      return { containerId, attached: this.#containers.has(containerId), hasSecrets: held.length > 0 }
    })
  }

  receipts(after: number) {
    return this.#receipts.page(after)
  }

  async close(): Promise<void> {
    for (const { containerId } of this.list()) await this.detach(containerId)
  }

  #passage(containerId: string, visits: Set<Visit>): Passage {
    const organizationOf = (container: Container) => this.#organizations.get(container.given.organizationId)
    const current = () => this.#containers.get(containerId)
    return {
      visits,
      refusalFor: (host, port) => {
        const container = current()
        if (container === undefined) return 'detached'
        return refusalFor(container.given, organizationOf(container), host, port)
      },
      secrets: () => current()?.secrets ?? [],
      plainHttpSecrets: () => {
        const container = current()
        if (container === undefined) return false
        return container.given.plainHttpSecrets && organizationOf(container)?.plainHttpSecrets === true
      },
      leafFor: async (host) => {
        const authority = current()?.authority ?? null
        if (authority === null) throw new Error('the container has no secret')
        return await authority.leafFor(host)
      },
      dial: (host, port, secure) => this.#dial(host, port, secure),
      receipt: (receipt) => {
        if (receipt.verdict === 'refused' && !mayNote(current()?.refusals)) return
        this.#receipts.add({ time: new Date().toISOString(), containerId, ...receipt })
      },
    }
  }

  #cutNotAllowed(organizationId: string): void {
    const organization = this.#organizations.get(organizationId)
    for (const { given, visits } of this.#containers.values()) {
      if (given.organizationId !== organizationId) continue
      for (const visit of visits) {
        if (visit.host === '' || refusalFor(given, organization, visit.host, visit.port) === null) continue
        visit.cut('domain_removed')
      }
    }
  }

  #takeParked(containerId: string): Secret[] | null {
    const parked = this.#parked.get(containerId)
    if (parked === undefined) return null
    if (parked.timer !== null) clearTimeout(parked.timer)
    this.#parked.delete(containerId)
    return parked.secrets
  }

  #drop(containerId: string): boolean {
    const secrets = this.#takeParked(containerId)
    wipeSecrets(secrets ?? [])
    return secrets !== null
  }
}

/** Refusals cost a container nothing, so a flood of them must not push the receipts of what did pass out of the ring. */
function mayNote(refusals: { since: number; count: number } | undefined): boolean {
  if (refusals === undefined) return true
  const now = performance.now()
  if (now - refusals.since > REFUSALS_WINDOW_MS) Object.assign(refusals, { since: now, count: 0 })
  refusals.count += 1
  return refusals.count <= REFUSALS_MAX
}

function dialFor(settings: EgressSettings): Dial {
  const { resolve } = dnsResolve(RESOLVE_TIMEOUT_MS, settings.resolver === undefined ? undefined : [settings.resolver])
  const allowed = rangesOf(settings.addressesAllowed ?? [])
  const names = createNames({
    resolve,
    allowPrivate: (_host, address) => allowed.check(address, isIPv4(address) ? 'ipv4' : 'ipv6'),
    ttlMs: NAMES_TTL_MS,
  })
  return createDial(names.addressesOf)
}

/** Throws for what is not a range, so that a typing mistake does not open or close a network in silence. */
export function rangesOf(ranges: readonly string[]): BlockList {
  const list = new BlockList()
  for (const range of ranges) {
    const [network = '', bits = ''] = range.split('/')
    const family = isIPv4(network) ? 'ipv4' : isIPv6(network) ? 'ipv6' : null
    const max = family === 'ipv4' ? 32 : 128
    if (family === null || !/^\d{1,3}$/.test(bits) || Number(bits) > max) throw new Error(`not a range: ${range}`)
    list.addSubnet(network, Number(bits), family)
  }
  return list
}
