import type { ExchangeReply } from './exchange.ts'
import { OutboundRefused } from './refused.ts'
import { parseTarget, type TargetRules } from './target.ts'

export type Hop = {
  url: URL
  method: string
  headers: Record<string, string>
  body: string | Uint8Array | null
}

const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/** Meant for the first host alone. */
const PRIVATE_HEADERS: ReadonlySet<string> = new Set(['authorization', 'cookie', 'proxy-authorization'])

const BODY_HEADERS: ReadonlySet<string> = new Set(['content-type', 'content-length', 'content-encoding'])

/** Where a reply sends us, held to the same rules as the first URL; null when it does not. */
export function nextHop(hop: Hop, reply: ExchangeReply, rules: TargetRules): Hop | null {
  if (!REDIRECTS.has(reply.status)) return null
  const location = reply.headers.location
  const url = typeof location === 'string' ? URL.parse(location, hop.url.href) : null
  if (url === null) throw new OutboundRefused('redirect_refused', 'The redirect names no usable address.')
  try {
    parseTarget(url, rules)
  } catch (error) {
    throw redirectRefused(error)
  }
  const becomesGet = reply.status === 303 || (reply.status <= 302 && hop.method === 'POST')
  const dropped = (name: string): boolean =>
    (url.origin !== hop.url.origin && PRIVATE_HEADERS.has(name)) || (becomesGet && BODY_HEADERS.has(name))
  return {
    url,
    method: becomesGet && hop.method !== 'HEAD' ? 'GET' : hop.method,
    headers: Object.fromEntries(Object.entries(hop.headers).filter(([name]) => !dropped(name.toLowerCase()))),
    body: becomesGet ? null : hop.body,
  }
}

/** A redirect to a place where requests may not go; `cause` says which rule it broke. */
export function redirectRefused(cause: unknown): OutboundRefused {
  return new OutboundRefused('redirect_refused', 'The redirect leads where requests may not go.', { cause })
}
