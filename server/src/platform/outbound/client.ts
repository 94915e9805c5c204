import { createConnector } from './connector.ts'
import { startDeadline, type Guard } from './deadline.ts'
import { exchange, type ExchangeReply, type ReplyHeaders } from './exchange.ts'
import { createNames, dnsResolve, type Resolve } from './names.ts'
import { createPools } from './pools.ts'
import { nextHop, redirectRefused, type Hop } from './redirects.ts'
import { OutboundRefused } from './refused.ts'
import { parseTarget, type AllowPrivate, type TargetRules } from './target.ts'

export type OutboundOptions = {
  /** Addresses outside the public internet that may be reached all the same; none unless given. */
  allowPrivate?: AllowPrivate
  httpAllowed?: boolean
  portsAllowed?: readonly number[] | 'any'
  /** When given, the only hosts that are reached. */
  hostsAllowed?: readonly string[]
  /** Name lookup, TCP and TLS together. */
  connectTimeoutMs?: number
  /** Ceilings; a request may ask for less. */
  totalTimeoutMs?: number
  bytesMax?: number
  headerBytesMax?: number
  connectionsPerOriginMax?: number
  inFlightMax?: number
  inFlightPerOriginMax?: number
  /** Above this many open connections none is kept after its request. */
  keptConnectionsMax?: number
  /** Origins whose connections are kept while nobody uses them. */
  idleOriginsMax?: number
  nameTtlMs?: number
  /** Certificate authorities to trust instead of the usual ones. */
  ca?: string | readonly string[]
  resolve?: Resolve
}

export type OutboundRequest = {
  url: string | URL
  method?: string
  headers?: Readonly<Record<string, string>>
  body?: string | Uint8Array
  /** Redirects to follow, each checked anew. With 0 a 3xx is a reply like any other. */
  redirects?: 0 | 1 | 2 | 3
  bytesMax?: number
  /** What happens to a body beyond `bytesMax`: cut off, or refused with `too_large` (default). */
  overflow?: 'truncate' | 'refuse'
  timeoutMs?: number
  signal?: AbortSignal
}

export type OutboundReply = {
  status: number
  headers: ReplyHeaders
  body: Buffer
  truncated: boolean
  /** Where the reply came from, after redirects. */
  url: string
  /** Milliseconds since the call; `connectedMs` and `firstByteMs` are those of the last hop. */
  timing: { connectedMs: number; firstByteMs: number; totalMs: number; hops: number }
}

export type Outbound = {
  request(request: OutboundRequest): Promise<OutboundReply>
  /** Lets requests under way end (they are bounded by `totalTimeoutMs`) and closes every connection. */
  close(): Promise<void>
}

type Settled = OutboundOptions & Required<Omit<OutboundOptions, 'allowPrivate' | 'hostsAllowed' | 'ca' | 'resolve'>>

const DEFAULTS = {
  httpAllowed: false,
  portsAllowed: [80, 443],
  connectTimeoutMs: 5_000,
  totalTimeoutMs: 10_000,
  bytesMax: 20 * 1024 * 1024,
  headerBytesMax: 16 * 1024,
  connectionsPerOriginMax: 128,
  inFlightMax: 4_096,
  inFlightPerOriginMax: 1_024,
  keptConnectionsMax: 4_096,
  idleOriginsMax: 1_024,
  nameTtlMs: 5_000,
} satisfies OutboundOptions

/** A kept connection follows its name to a new address at the latest after this. */
const CONNECTION_AGE_MAX_MS = 60_000

/** The one client for URLs that users give: webhook targets, image addresses, landing pages. */
export function createOutbound(given: OutboundOptions): Outbound {
  const options: Settled = { ...DEFAULTS, ...given }
  const transport = openTransport(options)

  async function send(hop: Hop, limits: Limits, guard: Guard, hops: number): Promise<ExchangeReply> {
    try {
      const { reply, stop } = exchange(transport.enter(hop.url.origin), {
        ...hop,
        ...limits,
        closeAfter: transport.openCount() >= options.keptConnectionsMax,
      })
      guard(stop)
      return await reply
    } catch (error) {
      // A name that leads inside is found out only when it is looked up.
      if (hops > 1 && error instanceof OutboundRefused && error.reason === 'address_not_allowed') {
        throw redirectRefused(error)
      }
      throw error
    }
  }

  async function request(given: OutboundRequest): Promise<OutboundReply> {
    const startedAt = performance.now()
    given.signal?.throwIfAborted()
    const { redirects = 0, overflow = 'refuse', bytesMax = Infinity, timeoutMs = Infinity } = given
    const limits = { bytesMax: Math.min(bytesMax, options.bytesMax), overflow }
    let hop = firstHop(given, options)
    const deadline = startDeadline(Math.min(timeoutMs, options.totalTimeoutMs), given.signal)
    try {
      for (let hops = 1; ; hops += 1) {
        const reply = await send(hop, limits, deadline.guard, hops)
        const next = redirects > 0 ? nextHop(hop, reply, options) : null
        if (next === null) return replyOf(hop, reply, startedAt, hops)
        if (hops > redirects) throw new OutboundRefused('too_many_redirects', 'The address redirects too often.')
        hop = next
      }
    } finally {
      deadline.clear()
    }
  }

  return { request, close: transport.close }
}

/** Names, sockets and pools put together so that nothing is dialled unchecked. */
function openTransport(options: Settled) {
  const { allowPrivate, connectTimeoutMs, ca } = options
  const dns = dnsResolve(connectTimeoutMs)
  const names = createNames({ resolve: options.resolve ?? dns.resolve, allowPrivate, ttlMs: options.nameTtlMs })
  const { connect, openCount } = createConnector({ lookup: names.lookup, allowPrivate, connectTimeoutMs, ca })
  const pools = createPools({
    inFlightMax: options.inFlightMax,
    inFlightPerOriginMax: options.inFlightPerOriginMax,
    idleOriginsMax: options.idleOriginsMax,
    options: {
      connect,
      allowH2: false,
      pipelining: 1,
      connections: options.connectionsPerOriginMax,
      clientTtl: CONNECTION_AGE_MAX_MS,
      keepAliveMaxTimeout: CONNECTION_AGE_MAX_MS,
      maxHeaderSize: options.headerBytesMax,
    },
  })
  let closed: Promise<void> | undefined
  const close = (): Promise<void> => (closed ??= pools.close().then(() => dns.cancel()))
  return { enter: pools.enter, openCount, close }
}

function firstHop(given: OutboundRequest, options: TargetRules): Hop {
  return {
    url: parseTarget(given.url, options),
    method: given.method ?? 'GET',
    headers: { 'accept-encoding': 'identity', ...given.headers },
    body: given.body ?? null,
  }
}

type Limits = { bytesMax: number; overflow: 'truncate' | 'refuse' }

function replyOf(hop: Hop, reply: ExchangeReply, startedAt: number, hops: number): OutboundReply {
  const { status, headers, body, truncated } = reply
  return {
    status,
    headers,
    body,
    truncated,
    url: hop.url.href,
    timing: {
      connectedMs: reply.connectedAt - startedAt,
      firstByteMs: reply.firstByteAt - startedAt,
      totalMs: performance.now() - startedAt,
      hops,
    },
  }
}
