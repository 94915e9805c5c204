import { BlockList, isIPv4, isIPv6 } from 'node:net'

type Prefix = readonly [network: string, bits: number]

/** IPv4 that is not the public internet: the IANA special-purpose registry, plus one address that only looks public. */
const IPV4_NOT_PUBLIC: readonly Prefix[] = [
  ['0.0.0.0', 8], // this network
  ['10.0.0.0', 8], // private
  ['100.64.0.0', 10], // carrier NAT; some clouds keep their metadata service here
  ['127.0.0.0', 8], // loopback
  ['168.63.129.16', 32], // a cloud's host agent: a public number that answers only from inside its machines
  ['169.254.0.0', 16], // link-local, metadata services
  ['172.16.0.0', 12], // private
  ['192.0.0.0', 24], // protocol assignments
  ['192.0.2.0', 24], // documentation
  ['192.31.196.0', 24], // AS112
  ['192.52.193.0', 24], // AMT
  ['192.88.99.0', 24], // 6to4 relays
  ['192.168.0.0', 16], // private
  ['192.175.48.0', 24], // AS112
  ['198.18.0.0', 15], // benchmarking
  ['198.51.100.0', 24], // documentation
  ['203.0.113.0', 24], // documentation
  ['224.0.0.0', 4], // multicast
  ['240.0.0.0', 4], // reserved, broadcast
]

/**
 * All that IANA has handed out as global unicast. What lies outside is refused without being listed: unspecified,
 * loopback, IPv4-compatible (::/96), IPv4-mapped (::ffff:0:0/96), NAT64 (64:ff9b::/96, 64:ff9b:1::/48), discard (100::/64),
 * SRv6 (5f00::/16), unique local (fc00::/7), link-local (fe80::/10), site-local (fec0::/10), multicast (ff00::/8).
 */
const IPV6_GLOBAL: Prefix = ['2000::', 3]

const IPV6_NOT_PUBLIC: readonly Prefix[] = [
  ['2001::', 23], // protocol assignments: Teredo (2001::/32), benchmarking, ORCHID
  ['2001:db8::', 32], // documentation
  ['2002::', 16], // 6to4: carries any IPv4 address inside
  ['2620:4f:8000::', 48], // AS112
  ['3fff::', 20], // documentation
]

const ipv4NotPublic = listOf('ipv4', IPV4_NOT_PUBLIC)
const ipv6Global = listOf('ipv6', [IPV6_GLOBAL])
const ipv6NotPublic = listOf('ipv6', IPV6_NOT_PUBLIC)

/** Whether an address is one that anybody on the internet could reach. What is not a plain address is not. */
export function isPublicAddress(ip: string): boolean {
  if (isIPv4(ip)) return !ipv4NotPublic.check(ip, 'ipv4')
  // A zone (fe80::1%eth0) only makes sense on a local link.
  if (!isIPv6(ip) || ip.includes('%')) return false
  return ipv6Global.check(ip, 'ipv6') && !ipv6NotPublic.check(ip, 'ipv6')
}

/** Whether an address is this machine: 127.0.0.0/8 or ::1. */
export function isLoopbackAddress(ip: string): boolean {
  if (isIPv4(ip)) return ip.startsWith('127.')
  return isIPv6(ip) && /^(?:0{1,4}:){7}0{0,3}1$|^::1$/.test(ip)
}

function listOf(family: 'ipv4' | 'ipv6', prefixes: readonly Prefix[]): BlockList {
  const list = new BlockList()
  for (const [network, bits] of prefixes) list.addSubnet(network, bits, family)
  return list
}
