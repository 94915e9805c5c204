import type { Checks } from '../../load/checks.ts'
import { egressOf } from '../fleet-folder.ts'
import type { SandboxFleet } from '../sandbox-fleet.ts'
import type { Asking, Reply } from './asking.ts'
import type { Canary } from './canary.ts'
import { requestOf } from './carry-out.ts'
import { hosts } from './outside.ts'
import { makeWork, names, policyOf } from './script.ts'

interface Wrong {
  readonly about: string
  /** Of the request's network policy; or the whole text of the body. */
  readonly policy?: unknown
  readonly text?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly code: string | null
  /** Below `network_policy`. */
  readonly param?: string
}

const valueMax = 16_384
const bodyMax = 64 * 1024 * 1024

/** Requests that carry a secret and are refused: the answer says what is wrong, and never with the value in it. */
export async function proveRefusals(
  fleet: SandboxFleet,
  asking: Asking,
  checks: Checks,
  canary: Canary,
): Promise<void> {
  const before = await listMade(fleet)
  const work = makeWork(canary, 0, 'foreground')
  const right = { ...requestOf(work), input: 'Never accepted.' }
  const wrongs = wrongsOf(canary.valueOf('refused'), JSON.stringify(right))
  const said: { wrong: Wrong; where: string; reply: Reply }[] = []
  for (const wrong of wrongs) {
    const { policy, text, headers } = wrong
    const environment = { type: 'container_auto', network_policy: policy }
    const response = text ?? { ...right, tools: [{ type: 'shell', environment }] }
    said.push({
      wrong,
      where: 'tools[0].environment.',
      reply: await asking.ask('POST', '/responses', response, headers),
    })
    if (text !== undefined) continue
    const container = { name: 'never made', network_policy: policy }
    said.push({ wrong, where: '', reply: await asking.ask('POST', '/containers', container, headers) })
    // What it costs to ask is counted with the secret on board too.
    await asking.ask('POST', '/responses/input_tokens', response, headers)
    await asking.socket(JSON.stringify({ type: 'response.create', ...(response as object) }))
  }
  const odd = said.filter(({ wrong, where, reply }) => !isAsSaid(wrong, where, reply))
  checks.expect(
    `a wrong request with a secret is refused and says what is wrong, without the value`,
    odd.length === 0 && said.every(({ reply }) => !canary.isIn(reply.text)),
    [`${said.length} requests`, ...odd.map(({ wrong, reply }) => `${wrong.about}: ${reply.status} ${reply.text}`)].join(
      '; ',
    ),
  )
  await asking.socket(`{"type":"response.create","tools":[{"value":"${canary.valueOf('frame')}"`)
  await otherPlaces(asking, checks, canary)
  const after = await listMade(fleet)
  const added = after.filter((one) => !before.includes(one))
  checks.expect(
    'what was refused made nothing: no response, no container, nothing held by the proxy',
    added.length === 0,
    [`${after.length} records as before`, ...added].join('; '),
  )
}

function wrongsOf(value: string, rightText: string): Wrong[] {
  const secret = { domain: hosts.first, name: names.first, value }
  const policy = (change: object) => ({ type: 'allowlist', allowed_domains: [hosts.first], ...change })
  const secrets = (...given: unknown[]) => policy({ domain_secrets: given })
  const at = (field: string) => `domain_secrets[0]${field}`
  return [
    {
      about: 'outside the list',
      policy: policy({ allowed_domains: [hosts.first, hosts.unlisted], domain_secrets: [secret] }),
      code: 'domain_not_allowed',
      param: 'allowed_domains[1]',
    },
    {
      about: 'domain not asked for',
      policy: secrets({ ...secret, domain: hosts.second }),
      code: 'invalid_value',
      param: at('.domain'),
    },
    {
      about: 'an object',
      policy: secrets({ ...secret, value: { deep: value } }),
      code: 'invalid_type',
      param: at('.value'),
    },
    { about: 'a list', policy: secrets({ ...secret, value: [value] }), code: 'invalid_type', param: at('.value') },
    { about: 'no object', policy: secrets(value), code: 'invalid_type', param: at('') },
    {
      about: 'unknown field',
      policy: secrets({ ...secret, extra: value }),
      code: 'unknown_parameter',
      param: at('.extra'),
    },
    {
      about: 'too long',
      policy: secrets({ ...secret, value: value.padEnd(valueMax + 1, 'x') }),
      code: null,
      param: at('.value'),
    },
    {
      about: 'line break',
      policy: secrets({ ...secret, value: `${value}\r\nx: y` }),
      code: 'invalid_value',
      param: at('.value'),
    },
    {
      about: 'same name twice',
      policy: secrets(secret, secret),
      code: 'invalid_value',
      param: 'domain_secrets[1].name',
    },
    {
      about: 'no list of secrets',
      policy: policy({ domain_secrets: value }),
      code: 'invalid_type',
      param: 'domain_secrets',
    },
    { about: 'no kind', policy: { ...secrets(secret), type: 'allow' }, code: null },
    { about: 'disabled', policy: { ...secrets(secret), type: 'disabled' }, code: null },
    { about: 'cut short', text: rightText.slice(0, rightText.lastIndexOf('"')), code: 'invalid_json' },
    { about: 'not JSON', text: rightText.replace('"value":"', '"value":'), code: 'invalid_json' },
    { about: 'not JSON at all', text: value, code: 'invalid_json' },
    {
      about: 'a form',
      text: `value=${value}`,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      code: null,
    },
    { about: 'too large', text: `{"value":"${value}","pad":"${'x'.repeat(bodyMax)}"}`, code: null },
  ]
}

function isAsSaid({ code, param }: Wrong, where: string, { status, body }: Reply): boolean {
  const error = body['error'] as { code?: string; param?: string; type?: string } | undefined
  if (status < 400 || status >= 500 || error === undefined) return false
  if (code !== null && error.code !== code) return false
  return param === undefined || error.param === `${where}network_policy.${param}`
}

/** Places that have no use for a secret. */
async function otherPlaces(asking: Asking, checks: Checks, canary: Canary): Promise<void> {
  const work = makeWork(canary, 0, 'foreground')
  const { tools } = requestOf(work)
  const messages = [{ role: 'user', content: 'Hello.' }]
  const chat = await asking.ask('POST', '/chat/completions', { model: 'double-chat', messages, tools })
  const [tool] = tools
  const local = { ...tool, environment: { ...tool?.environment, type: 'local' } }
  const refused = await asking.ask('POST', '/responses', { ...requestOf(work), tools: [local] })
  const unknown = await asking.ask('POST', '/nowhere', { policy: policyOf(work) })
  const all = [chat, refused, unknown]
  checks.expect(
    'chat completions, a local shell and an unknown path refuse a secret without saying it',
    all.every(({ status, text }) => status >= 400 && status < 500 && !canary.isIn(text)),
    all.map(({ status }) => status).join(', '),
  )
}

/** By id: what is over may go meanwhile. */
async function listMade({ db, hosts: [host] }: SandboxFleet): Promise<string[]> {
  const { rows } = await db.query<{ id: string }>(
    `select 'response ' || id as id from responses.response union all
     select 'container ' || id from containers.container union all
     select 'reply to ' || key from platform.idempotency`,
  )
  const held = await egressOf(host?.dir ?? '').list()
  return [...rows.map(({ id }) => id), ...held.map(({ containerId }) => `secrets of ${containerId}`)]
}
