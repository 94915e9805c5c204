import { Resolver } from 'node:dns/promises'
import { isIPv6, type LookupFunction } from 'node:net'
import { OutboundRefused } from './refused.ts'
import { checkAddress, type AllowPrivate } from './target.ts'

/** Gives every address of a name; an empty list or a throw means there is none. */
export type Resolve = (host: string) => Promise<readonly string[]>

type Answer = { addresses: readonly string[] } | { refused: OutboundRefused }
type Known = { answer: Promise<Answer>; until: number }

/** A name with more addresses than this is not one that a webhook lives on; the rest is checked, never dialled. */
const ADDRESSES_DIALLED_MAX = 8

/** Names kept at once; the oldest goes first. */
const NAMES_MAX = 10_000

/**
 * Turns names into addresses that were all checked, for as long as `ttlMs`. Only what comes out of here is ever dialled,
 * so a name that changes its mind between check and connection gains nothing.
 */
export function createNames(use: { resolve: Resolve; allowPrivate?: AllowPrivate | undefined; ttlMs: number }) {
  const known = new Map<string, Known>()

  async function ask(host: string): Promise<Answer> {
    try {
      const addresses = isLocalhost(host) ? ['127.0.0.1', '::1'] : await use.resolve(host)
      if (addresses.length === 0) throw new Error('no address')
      for (const address of addresses) checkAddress(host, address, use.allowPrivate)
      return { addresses: addresses.slice(0, ADDRESSES_DIALLED_MAX) }
    } catch (error) {
      if (error instanceof OutboundRefused) return { refused: error }
      return { refused: new OutboundRefused('name_not_resolved', 'The host name has no address.', { cause: error }) }
    }
  }

  async function addressesOf(host: string): Promise<readonly string[]> {
    const now = performance.now()
    let entry = known.get(host)
    if (entry === undefined || entry.until <= now) {
      known.delete(host)
      entry = { answer: ask(host), until: now + use.ttlMs }
      known.set(host, entry)
      for (const oldest of known.keys()) {
        if (known.size <= NAMES_MAX) break
        known.delete(oldest)
      }
    }
    const answer = await entry.answer
    if ('refused' in answer) throw answer.refused
    return answer.addresses
  }

  /** The same as a `lookup` for net.connect: the socket can only dial what this hands it. */
  const lookup: LookupFunction = (host, options, done) => {
    addressesOf(host).then(
      (addresses) => {
        const found = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }))
        const first = found[0]
        if (options.all === true) done(null, found)
        else done(null, first?.address ?? '', first?.family)
      },
      (error: Error) => done(error, ''),
    )
  }

  return { addressesOf, lookup }
}

/**
 * Asks the DNS servers of this machine without the thread pool that getaddrinfo would use: a name whose servers never
 * answer must not hold up file access for everybody. The hosts file and search domains are therefore not consulted.
 */
export function dnsResolve(timeoutMs: number, servers?: readonly string[]): { resolve: Resolve; cancel: () => void } {
  const resolver = new Resolver({ timeout: Math.max(1, Math.floor(timeoutMs / 2)), tries: 2 })
  if (servers !== undefined) resolver.setServers(servers)
  const resolve: Resolve = async (host) => {
    const [four, six] = await Promise.allSettled([resolver.resolve4(host), resolver.resolve6(host)])
    const addresses = [
      ...(four.status === 'fulfilled' ? four.value : []),
      ...(six.status === 'fulfilled' ? six.value : []),
    ]
    if (addresses.length === 0 && four.status === 'rejected') throw four.reason
    return addresses
  }
  return { resolve, cancel: () => resolver.cancel() }
}

/** RFC 6761: these names are this machine, whatever a server says. */
function isLocalhost(host: string): boolean {
  const name = host.endsWith('.') ? host.slice(0, -1) : host
  return name === 'localhost' || name.endsWith('.localhost')
}
