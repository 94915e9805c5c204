import type { IncomingMessage } from 'node:http'
import { looksLikeAddress, readHostName } from './host-name.ts'
import type { Side } from './http-side.ts'
import type { Reason } from './reasons.ts'
import { readAuthority, type Target } from './request-headers.ts'

type NotTarget = { refused: Reason; host: string }

/** Where a request goes. Its address, its one Host header and the connection it came by must all say the same. */
export function targetOf(request: IncomingMessage, hosts: readonly string[], side: Side): Target | NotTarget {
  const [given] = hosts
  if (given === undefined || hosts.length !== 1) return { refused: 'request_malformed', host: side.host ?? '' }
  const portUsual = side.kind === 'proxy' ? 80 : side.visit.port
  const named = readAuthority(given, side.secure ? 443 : 80)
  if (named === null) {
    const address = looksLikeAddress(given.replace(/:\d+$/, ''))
    return { refused: address ? 'name_is_address' : 'name_malformed', host: '' }
  }
  if (side.kind === 'proxy') return absoluteTarget(request.url ?? '', named)
  const path = request.url ?? ''
  // An absolute address inside a connection that already has a host is only ever a way to confuse somebody.
  if (!path.startsWith('/') && !(path === '*' && request.method === 'OPTIONS')) {
    return { refused: 'request_malformed', host: named.host }
  }
  if (side.host !== null && named.host !== side.host) return { refused: 'host_mismatch', host: named.host }
  // A port in the Host header that is not the connection's is not where the connection goes.
  if (named.port !== portUsual) return { refused: 'host_mismatch', host: named.host }
  return { host: named.host, port: portUsual, path }
}

/** `GET http://host/path`, as clients with a proxy setting write it. */
function absoluteTarget(text: string, named: { host: string; port: number }): Target | NotTarget {
  const parts = /^http:\/\/([^/?#]*)(.*)$/i.exec(text)
  if (parts === null) return { refused: 'request_malformed', host: named.host }
  const authority = readAuthority(parts[1] ?? '', 80)
  if (authority === null) {
    const address = looksLikeAddress((parts[1] ?? '').replace(/:\d+$/, ''))
    return { refused: address ? 'name_is_address' : 'name_malformed', host: readHostName(parts[1] ?? '') ?? '' }
  }
  if (authority.host !== named.host || authority.port !== named.port) {
    return { refused: 'host_mismatch', host: named.host }
  }
  const rest = (parts[2] ?? '').replace(/#.*$/, '')
  return { ...authority, path: rest.startsWith('/') ? rest : `/${rest}` }
}
