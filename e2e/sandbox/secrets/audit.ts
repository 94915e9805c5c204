import type { Checks } from '../../load/checks.ts'
import type { Canary } from './canary.ts'
import type { Done } from './carry-out.ts'
import { hosts, type Call } from './outside.ts'
import { allowedCalls, names, type Kind, type Work } from './script.ts'

const ends: Partial<Record<Kind, string>> = { failed: 'failed', cancelled: 'cancelled', 'proxy killed': 'failed' }
const shown = 3
const firstChars = 600

/** What every command must have printed: the placeholder where the host said the value back, refusals elsewhere. */
const printedAlways: readonly (readonly [string, RegExp])[] = [
  ['body said back in pieces', new RegExp(`"authorization":"Bearer \\$${names.first}"`)],
  ['header said back', new RegExp(`x-said-back: Bearer \\$${names.first}`, 'i')],
  ['memory read inside', /memory read: [1-9]\d{5}/],
  ['secret of another host', /^other host: 403$/m],
  ['plain http', /^plain http: 403$/m],
  ['in the path', /^path: 403$/m],
  ['in the query', /^query: 403$/m],
  ['in a body it stays a name', new RegExp(`^body: .*key=\\$${names.first}`, 'm')],
  ['to a host without a secret it stays a name', new RegExp(`^no secret there: .*Bearer \\$${names.first}`, 'm')],
  ['a host that is not listed', /^unlisted: .*(?:resolve|403|000)/m],
  ['absolute form', /^absolute: 403$/m],
  ['environment', new RegExp(`^${names.first}=\\$${names.first}$`, 'm')],
]

export function checkPrinted(checks: Checks, done: readonly Done[]): void {
  const ended = done.filter(({ status, work }) => status !== (ends[work.kind] ?? 'completed'))
  checks.expect(
    'every response ended as its kind does',
    ended.length === 0,
    [
      `${done.length} responses`,
      ...ended.slice(0, shown).map(({ work, status, text }) => `${work.kind}: ${status} ${text.slice(0, firstChars)}`),
    ].join('; '),
  )
  const full = done.filter(({ work }) => !['unused', 'host killed', 'proxy killed', 'cancelled'].includes(work.kind))
  const wrong = full.flatMap(({ work, printed }) =>
    printedAlways.filter(([, like]) => !like.test(printed)).map(([about]) => ({ about, work, printed })),
  )
  checks.expect(
    'commands saw the placeholder where the host said the value back, and refusals where they tried to send it elsewhere',
    wrong.length === 0 && full.length > 0,
    [
      `${full.length} responses, ${printedAlways.length} each`,
      ...wrong.slice(0, shown).map(({ about, work }) => `${work.kind}: ${about}`),
    ].join('; '),
  )
  if (wrong[0] !== undefined) console.log(wrong[0].printed.slice(0, 20 * firstChars))
}

/** Every allowed call brought the value, and no other call brought any. */
export function checkCalls(checks: Checks, canary: Canary, calls: readonly Call[], works: readonly Work[]): void {
  const expected = works.flatMap((work) => allowedCalls(work).map((call) => ({ call, work })))
  const missed = expected.filter(
    ({ call, work }) => !calls.some((seen) => seen.call === call && seen.secure && brings(seen, work)),
  )
  checks.expect(
    'the host received the value on every allowed call',
    missed.length === 0 && expected.length > 0,
    [`${expected.length} calls`, ...missed.slice(0, shown).map(({ call }) => `not ${call}`)].join('; '),
  )
  const allowed = new Set([...expected.map(({ call }) => call), ...works.map(({ number }) => `${number}-last`)])
  const stray = calls.filter((seen) => !allowed.has(seen.call) && holds(canary, seen))
  const foreign = calls.filter((seen) => holds(canary, seen) && (!seen.secure || seen.host === hosts.plain))
  checks.expect(
    'nobody else received it: not another host, not over http, not in a path or a body',
    stray.length === 0 && foreign.length === 0,
    [
      `${calls.length} calls seen`,
      ...[...stray, ...foreign].slice(0, shown).map(({ host, url }) => `${host}${url}`),
    ].join('; '),
  )
}

function brings({ host, authorization }: Call, work: Work): boolean {
  if (host === hosts.first) return authorization === `Bearer ${work.first}`
  const credentials = Buffer.from(authorization.replace(/^Basic /, ''), 'base64').toString('latin1')
  return host === hosts.second && credentials === `user:${work.second}`
}

function holds(canary: Canary, { url, text }: Call): boolean {
  const decoded = text.replaceAll(/[A-Za-z0-9+/]{40,}=*/g, (word) => Buffer.from(word, 'base64').toString('latin1'))
  return canary.isIn(url) || canary.isIn(text) || canary.isIn(decoded)
}
