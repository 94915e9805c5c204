import { isIP } from 'node:net'
import { isLoopbackAddress, isPublicAddress } from './addresses.ts'
import { OutboundRefused } from './refused.ts'

/** Says that an address outside the public internet may be reached after all. `'loopback'` is for development. */
export type AllowPrivate = 'loopback' | ((host: string, address: string) => boolean)

export type TargetRules = {
  httpAllowed: boolean
  portsAllowed: readonly number[] | 'any'
  /** When given, no other host is reached or looked up. */
  hostsAllowed?: readonly string[] | undefined
  allowPrivate?: AllowPrivate | undefined
}

/** Parses a URL and refuses what can be refused without asking anybody. Throws OutboundRefused. */
export function parseTarget(given: string | URL, rules: TargetRules): URL {
  const url = typeof given === 'string' ? URL.parse(given) : given
  if (url === null) throw new OutboundRefused('scheme_not_allowed', 'The address is not a URL.')
  if (url.protocol !== 'https:' && !(rules.httpAllowed && url.protocol === 'http:')) {
    throw new OutboundRefused(
      'scheme_not_allowed',
      `URLs must start with ${rules.httpAllowed ? 'https:// or http://' : 'https://'}.`,
    )
  }
  if (url.username !== '' || url.password !== '') {
    throw new OutboundRefused('userinfo_not_allowed', 'URLs must not hold a user name or password.')
  }
  if (rules.portsAllowed !== 'any' && !rules.portsAllowed.includes(portOf(url))) {
    throw new OutboundRefused('port_not_allowed', `Port ${portOf(url)} is not allowed.`)
  }
  if (rules.hostsAllowed !== undefined && !rules.hostsAllowed.includes(url.hostname)) {
    throw new OutboundRefused('host_not_allowed', 'This deployment does not reach that host.')
  }
  // URL has already turned 127.1, 0x7f.1 and 2130706433 into dotted form; IPv6 comes in brackets.
  const host = url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname
  if (isIP(host) !== 0) checkAddress(host, host, rules.allowPrivate)
  return url
}

/** Throws unless a connection to this address may be opened on behalf of a user. */
export function checkAddress(host: string, address: string, allowPrivate: AllowPrivate | undefined): void {
  if (isPublicAddress(address)) return
  const allowed = allowPrivate === 'loopback' ? isLoopbackAddress(address) : (allowPrivate?.(host, address) ?? false)
  if (!allowed) throw new OutboundRefused('address_not_allowed', 'The host is not on the public internet.')
}

function portOf(url: URL): number {
  if (url.port !== '') return Number(url.port)
  return url.protocol === 'https:' ? 443 : 80
}
