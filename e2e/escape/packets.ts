/** A packet that arrived at the internet. */
export interface Packet {
  readonly to: string
  readonly protocol: 'tcp' | 'udp' | 'icmp' | 'other'
  /** Zero where there are none. */
  readonly port: number
}

const fileHeaderBytes = 24
const recordHeaderBytes = 16
const ethernetBytes = 14
const ipv4Type = 0x0800
const ipv6Type = 0x86dd
const ipv6Bytes = 40
const protocols: Readonly<Record<number, Packet['protocol']>> = { 1: 'icmp', 6: 'tcp', 17: 'udp', 58: 'icmp' }
const icmp6 = 58
const hopByHop = 0
/** How neighbours on a link find each other and say which groups they listen to; every interface does that by itself. */
const isLinkTalk = (type: number): boolean => (type >= 130 && type <= 137) || type === 143

/** Takes the whole packets out of a capture file as it grows. */
export class PacketReader {
  #left: Buffer = Buffer.alloc(0)
  #begun = false

  take(chunk: Buffer): Packet[] {
    this.#left = Buffer.concat([this.#left, chunk])
    if (!this.#begun) {
      if (this.#left.length < fileHeaderBytes) return []
      this.#left = this.#left.subarray(fileHeaderBytes)
      this.#begun = true
    }
    const found: Packet[] = []
    while (this.#left.length >= recordHeaderBytes) {
      const size = this.#left.readUInt32LE(8)
      if (this.#left.length < recordHeaderBytes + size) break
      const packet = readFrame(this.#left.subarray(recordHeaderBytes, recordHeaderBytes + size))
      if (packet !== null) found.push(packet)
      this.#left = this.#left.subarray(recordHeaderBytes + size)
    }
    return found
  }
}

/** Null for what keeps the link itself going. */
function readFrame(frame: Buffer): Packet | null {
  const type = frame.readUInt16BE(12)
  const packet = frame.subarray(ethernetBytes)
  if (type === ipv4Type) {
    const to = [...packet.subarray(16, 20)].join('.')
    return withPorts(to, packet[9] ?? 0, packet.subarray(((packet[0] ?? 0) & 15) * 4))
  }
  if (type !== ipv6Type) return type === 0x0806 ? null : { to: `ethernet ${type}`, protocol: 'other', port: 0 }
  const to = readIpv6(packet.subarray(24, ipv6Bytes))
  let next = packet[6] ?? 0
  let rest = packet.subarray(ipv6Bytes)
  if (next === hopByHop) {
    next = rest[0] ?? 0
    rest = rest.subarray(8 + (rest[1] ?? 0) * 8)
  }
  return next === icmp6 && isLinkTalk(rest[0] ?? 0) ? null : withPorts(to, next, rest)
}

function withPorts(to: string, number: number, rest: Buffer): Packet {
  const protocol = protocols[number] ?? 'other'
  const hasPorts = protocol === 'tcp' || protocol === 'udp'
  return { to, protocol, port: hasPorts && rest.length >= 4 ? rest.readUInt16BE(2) : 0 }
}

/** As the URL standard writes it. */
export function readIpv6(bytes: Buffer): string {
  const groups = Array.from({ length: 8 }, (_, at) => bytes.readUInt16BE(at * 2).toString(16))
  return new URL(`http://[${groups.join(':')}]`).hostname.slice(1, -1)
}
