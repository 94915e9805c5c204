export interface Bypass {
  readonly number: number
  readonly title: string
  /** Whether the same program gets out where nothing holds it; the others speak to the proxy, which is not there then. */
  readonly alsoUnconfined: boolean
}

const bypass = (number: number, title: string, alsoUnconfined = false): Bypass => ({ number, title, alsoUnconfined })

/** Numbered as in the design; `inside/` has a program for each. */
export const bypasses: readonly Bypass[] = [
  bypass(1, 'DNS tunnelling by query names', true),
  bypass(2, 'TXT, ANY and other odd DNS queries', true),
  bypass(3, 'DNS to another resolver', true),
  bypass(4, 'DNS over TLS', true),
  bypass(5, 'DNS over https, also at a listed host', true),
  bypass(6, 'Direct IPv4', true),
  bypass(7, 'Direct IPv6', true),
  bypass(8, 'IPv4-mapped, NAT64 and 6to4 addresses', true),
  bypass(9, 'SNI and Host that differ'),
  bypass(10, 'TLS without a name, and what is no TLS'),
  bypass(11, 'Encrypted hello (ECH)'),
  bypass(12, 'CONNECT relayed through a listed host'),
  bypass(13, 'CONNECT to another port'),
  bypass(14, 'Redirect to a private address'),
  bypass(15, 'Rebinding name'),
  bypass(16, 'Names that resolve to loopback, the machine or private networks'),
  bypass(17, 'QUIC and other UDP on 443', true),
  bypass(18, 'ICMP', true),
  bypass(19, 'Raw and packet sockets', true),
  bypass(20, "Another container's proxy socket"),
  bypass(21, 'Metadata addresses', true),
  bypass(22, 'WebSocket upgrade to an unlisted host'),
  bypass(23, 'Absolute addresses and second Host headers'),
  bypass(24, 'Header smuggling where TLS is ended'),
]

export const limitsNumber = 101
