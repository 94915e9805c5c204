import type { IncomingMessage } from 'node:http'
import { readHostName } from './host-name.ts'
import { namesSecret, replaceInHeader } from './placeholders.ts'
import type { Reason } from './reasons.ts'
import type { Secret } from './secrets.ts'

/** Where a request goes, once everything that it says about that agrees. */
export type Target = { host: string; port: number; path: string }

export type Prepared =
  | {
      headers: string[]
      injected: number
      /** Basic credentials that hold a value: a host that echoes them must not give it away. */
      encoded: { sent: string; given: string }[]
    }
  | { refused: Reason }

const HOP_BY_HOP: ReadonlySet<string> = new Set(
  'connection proxy-connection keep-alive te trailer transfer-encoding upgrade proxy-authorization expect host'.split(
    ' ',
  ),
)

/** Written by us, or meaningless where the body is looked through for values. */
const NOT_TO_SECRET_HOSTS: ReadonlySet<string> = new Set(
  'accept-encoding range if-range sec-websocket-extensions'.split(' '),
)

/** What a body may be announced by: one length or chunks, never both and nothing else. */
export function framingIsPlain(request: IncomingMessage): boolean {
  const lengths = headerValues(request, 'content-length')
  const codings = headerValues(request, 'transfer-encoding')
  if (codings.length > 0) return lengths.length === 0 && codings.length === 1 && codings[0]?.toLowerCase() === 'chunked'
  return lengths.length <= 1 && lengths.every((length) => /^\d{1,15}$/.test(length))
}

export function headerValues(request: IncomingMessage, wanted: string): string[] {
  return pairs(request.rawHeaders)
    .filter(([name]) => name.toLowerCase() === wanted)
    .map(([, value]) => value.trim())
}

/** Reads `host` or `host:port`. Null when it is neither. */
export function readAuthority(text: string, portFallback: number | null): { host: string; port: number } | null {
  const parts = /^([^:[\]@/\s]+)(?::(\d{1,5}))?$/.exec(text)
  const host = readHostName(parts?.[1] ?? '')
  const port = parts?.[2] === undefined ? portFallback : Number(parts[2])
  return host === null || port === null || port < 1 || port > 65_535 ? null : { host, port }
}

/**
 * The headers to send on. Values go in the place of placeholders only when `secrets` may be applied here; where they may
 * not, a placeholder is refused rather than sent.
 */
export function prepareHeaders(
  request: IncomingMessage,
  target: Target,
  use: { secrets: readonly Secret[]; secure: boolean; plainHttpSecrets: boolean },
): Prepared {
  if (namesSecret(target.path, use.secrets) !== null) return { refused: 'placeholder_not_in_header' }
  const ownHost = use.secrets.some(({ domain }) => domain === target.host)
  const dropped = new Set([...HOP_BY_HOP, ...namedByConnection(request)])
  const headers = ['Host', authorityOf(target, use.secure)]
  const encoded: { sent: string; given: string }[] = []
  let injected = 0
  for (const [name, value] of pairs(request.rawHeaders)) {
    const lower = name.toLowerCase()
    const replaced = replaceInHeader(value, target.host, use.secrets)
    if (replaced.kind === 'foreign' || namesSecret(name, use.secrets) !== null)
      return { refused: 'secret_of_other_host' }
    if (replaced.count > 0 && !use.secure && !use.plainHttpSecrets) return { refused: 'secret_not_over_http' }
    if (dropped.has(lower) || (ownHost && NOT_TO_SECRET_HOSTS.has(lower))) continue
    headers.push(name, replaced.text)
    injected += replaced.count
    if (replaced.encoded !== undefined) encoded.push(replaced.encoded)
  }
  if (ownHost) headers.push('Accept-Encoding', 'identity')
  return { headers: [...headers, ...framing(request)], injected, encoded }
}

/** Content-Length passes with the other headers; what else a body needs is said here. */
function framing(request: IncomingMessage): string[] {
  if (headerValues(request, 'transfer-encoding').length > 0) return ['Transfer-Encoding', 'chunked']
  const empty = headerValues(request, 'content-length').length === 0
  return empty && /^(?:POST|PUT|PATCH)$/.test(request.method ?? '') ? ['Content-Length', '0'] : []
}

/** Headers that are for the next hop only. Content-Length is not theirs to take away: the body would lose its end. */
function namedByConnection(request: IncomingMessage): string[] {
  return headerValues(request, 'connection')
    .flatMap((value) => value.split(','))
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== 'content-length')
}

function authorityOf(target: Target, secure: boolean): string {
  return target.port === (secure ? 443 : 80) ? target.host : `${target.host}:${target.port}`
}

export function pairs(raw: readonly string[]): [name: string, value: string][] {
  return Array.from({ length: raw.length / 2 }, (_, index) => [raw[index * 2] ?? '', raw[index * 2 + 1] ?? ''])
}
