import { faults } from '@switchyard/contracts/errors.ts'
import type { Outcome } from './line.ts'
import type { Plan } from './plan.ts'
import type { Reply } from './read-reply.ts'

export const promises = [
  'no reply is a 5xx',
  'every request is answered or refused in time',
  'every reply is well-formed HTTP',
  'every reply carries x-request-id',
  'every error is one of the catalogue, in its form',
  'no reply tells of the inside',
] as const

export type Promised = (typeof promises)[number]

export interface Complaint {
  readonly broken: Promised
  readonly detail: string
}

/** Words that only our own code, its libraries and its engines would say. Nothing the fuzzer sends holds one. */
const inside = [
  /node_modules|node:internal|file:\/\//,
  /\bat (?:async )?[\w.<>]+ \(/,
  /\.[cm]?[jt]s:\d+/,
  /\b(?:kysely|fastify|zod|ZodError|busboy|undici|iovalkey|restate)\b/i,
  /\b(?:postgres|pg_\w+|psql|valkey|redis)\b/i,
  /\b(?:relation|column|constraint) "/i,
  /\b(?:insert into|select .{1,80} from|update .{1,40} set|duplicate key|violates|syntax error at)\b/i,
  /\b(?:orgs|files|platform)\.(?:organization|project|user|member|api_key|file|piece|upload|part|audit_log|idempotency)\b/,
  /\b(?:TypeError|RangeError|ReferenceError|AssertionError|SyntaxError|ECONN\w+|ENOENT|EPIPE|EACCES)\b/,
  /Cannot read propert|is not a function|undefined is not|Unexpected token|in JSON at position/,
]

const bodyShownMax = 300
/** Answers to what never became a request: bytes that are not HTTP, headers beyond the bound. */
const malformed = '400 null'
const headersTooLarge = '431 request_too_large'
const requestId = /^req_[0-9a-f]{32}$/

export function judge(plan: Plan, outcome: Outcome): Complaint[] {
  switch (outcome.kind) {
    case 'hang':
      return [{ broken: 'every request is answered or refused in time', detail: 'no answer in 15 s' }]
    case 'nonsense':
      return [
        {
          broken: 'every reply is well-formed HTTP',
          detail: outcome.bytes.subarray(0, bodyShownMax).toString('latin1'),
        },
      ]
    case 'closed':
      if (plan.framing === 'broken') return []
      return [{ broken: 'every request is answered or refused in time', detail: 'hung up without a reply' }]
    case 'reply':
      return outcome.replies.flatMap((reply) => judgeReply(plan, reply))
  }
}

/** Paths that are counted and not offered yet say so. */
const isNotOffered = (status: number, text: string): boolean =>
  status === 501 && text.includes('"not_implemented"') && text.includes('no vector stores yet')

/** The server under fuzz has no machine for containers, and says so: a truthful 503 is what was promised for that. */
const isWithoutHost = (status: number, text: string) =>
  status === 503 && text.includes('No sandbox host is up') && text.includes('"server_overloaded"')

function judgeReply(plan: Plan, reply: Reply): Complaint[] {
  const { status, headers, body } = reply
  const text = body.toString('utf8')
  const shown = `${status} ${text.slice(0, bodyShownMax)}`
  const complaints: Complaint[] = []
  if (status >= 500 && !isWithoutHost(status, text) && !isNotOffered(status, text))
    complaints.push({ broken: 'no reply is a 5xx', detail: shown })
  if (!requestId.test(headers.get('x-request-id') ?? '')) {
    complaints.push({ broken: 'every reply carries x-request-id', detail: `${shown} ${[...headers.keys()].join(' ')}` })
  }
  const said = `${[...headers].map(([name, value]) => `${name}: ${value}`).join('\n')}\n${text}`
  const leak = inside.find((pattern) => pattern.test(said))
  if (leak !== undefined && !isDownload(headers))
    complaints.push({ broken: 'no reply tells of the inside', detail: `${leak.source}: ${shown}` })
  const odd = status < 400 || plan.method === 'HEAD' ? null : oddError(plan, status, headers, text)
  if (odd !== null)
    complaints.push({ broken: 'every error is one of the catalogue, in its form', detail: `${odd}: ${shown}` })
  return complaints
}

/** Content is what someone uploaded; it may say anything. */
const isDownload = (headers: Reply['headers']) => headers.get('content-type') === 'application/octet-stream'

function oddError(plan: Plan, status: number, headers: Reply['headers'], text: string): string | null {
  if (headers.get('content-type')?.startsWith('application/json') !== true) return 'not JSON'
  let parsed: { error?: { message?: unknown; type?: unknown; code?: unknown; param?: unknown } }
  try {
    parsed = JSON.parse(text) as typeof parsed
  } catch {
    return 'not JSON'
  }
  const { error } = parsed
  if (typeof error?.message !== 'string' || typeof error.type !== 'string') return 'no error object'
  if (error.param !== null && typeof error.param !== 'string') return 'param is neither text nor null'
  const said = `${status} ${String(error.code)}`
  if (error.type === 'invalid_request_error' && said === headersTooLarge) return null
  if (error.type === 'invalid_request_error' && said === malformed && plan.framing === 'broken') return null
  const known = Object.entries(faults).find(([code, { status: expected, type }]) => {
    const wire = code === 'missing_api_key' ? null : code
    return wire === error.code && expected === status && type === error.type
  })
  return known === undefined ? 'not in the catalogue' : null
}
