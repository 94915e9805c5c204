import { becomesTrue } from '../../../dev/engines/wait-until.ts'
import type { Asking, Reply } from './asking.ts'
import type { Outside } from './outside.ts'
import { allowedCalls, inputOf, policyOf, shellOf, type Work } from './script.ts'

export interface Done {
  readonly work: Work
  readonly responseId: string
  readonly status: string
  readonly containerId: string | null
  /** What its commands printed. */
  readonly printed: string
  /** The whole response as the API shows it last. */
  readonly text: string
  readonly message: string
}

const endMs = 180_000
const final = new Set(['completed', 'failed', 'cancelled', 'incomplete'])

interface Item {
  readonly type: string
  readonly environment?: { readonly container_id?: string }
  readonly output?: readonly { readonly stdout?: string; readonly stderr?: string }[]
}

export const requestOf = (work: Work) => ({ model: 'double-chat', input: inputOf(work), tools: [shellOf(work)] })

/** Makes the response of a work in the way of its kind, and waits for its end. */
export async function carryOut(asking: Asking, outside: Outside, work: Work): Promise<Done> {
  const body = requestOf(work)
  const create = (more: object = {}, headers = {}) => asking.ask('POST', '/responses', { ...body, ...more }, headers)
  switch (work.kind) {
    case 'streamed':
    case 'failed':
      return doneOf(work, await asking.stream('POST', '/responses', { ...body, stream: true }))
    case 'followed': {
      const events = await asking.stream('POST', '/responses', { ...body, background: true, stream: true })
      return await read(asking, work, idIn(events))
    }
    case 'socket':
      return doneOf(work, await asking.socket(JSON.stringify({ type: 'response.create', ...body })))
    case 'idempotent':
      return await askAgain(create, work)
    case 'unstored':
      return doneOf(work, await create({ store: false }))
    case 'referenced':
      return await refer(asking, work)
    case 'background':
      return await readEnd(asking, work, String((await create({ background: true })).body['id']))
    case 'cancelled': {
      const id = String((await create({ background: true })).body['id'])
      await outsideHas(outside, [...allowedCalls(work), `${work.number}-last`])
      await asking.ask('POST', `/responses/${id}/cancel`)
      return await readEnd(asking, work, id)
    }
    default: {
      const done = doneOf(work, await create())
      return done.responseId === '' ? done : await read(asking, work, done.responseId)
    }
  }
}

/** A background response that is only begun. */
export async function begin(asking: Asking, work: Work): Promise<string> {
  const { body } = await asking.ask('POST', '/responses', { ...requestOf(work), background: true })
  return String(body['id'])
}

export async function outsideHas(outside: Outside, calls: readonly string[]): Promise<void> {
  if (await becomesTrue(() => calls.every((call) => outside.has(call)), endMs)) return
  throw new Error(`not seen outside in time: ${calls.filter((call) => !outside.has(call)).join(', ')}`)
}

/** The same key gives the same response, whatever the secret of the second request is. */
async function askAgain(create: (more: object, headers: object) => Promise<Reply>, work: Work): Promise<Done> {
  const headers = { 'Idempotency-Key': `key-${work.mark}` }
  const first = await create({}, headers)
  const others = [
    await create({}, headers),
    await create({ tools: [shellOf({ ...work, first: work.second })] }, headers),
  ]
  const done = doneOf(work, first)
  const odd = others.find(({ body, status }) => body['id'] !== first.body['id'] || status !== first.status)
  return odd === undefined ? done : { ...done, status: `asked again: ${odd.status} ${odd.text}` }
}

async function refer(asking: Asking, work: Work): Promise<Done> {
  const made = await asking.ask('POST', '/containers', { name: work.mark, network_policy: policyOf(work) })
  const environment = { type: 'container_reference', container_id: made.body['id'] }
  await asking.ask('GET', `/containers/${String(made.body['id'])}`)
  const body = { ...requestOf(work), tools: [{ type: 'shell', environment }] }
  return doneOf(work, await asking.ask('POST', '/responses', body))
}

export async function readEnd(asking: Asking, work: Work, id: string): Promise<Done> {
  let last: Done | null = null
  await becomesTrue(async () => {
    last = await read(asking, work, id)
    return final.has(last.status)
  }, endMs)
  return last ?? (await read(asking, work, id))
}

async function read(asking: Asking, work: Work, id: string): Promise<Done> {
  return doneOf(work, await asking.ask('GET', `/responses/${id}`))
}

const idIn = (events: readonly { response?: { id: string } }[]) => events[0]?.response?.id ?? ''

function doneOf(work: Work, said: Reply | readonly { response?: object }[]): Done {
  const body = ('body' in said ? said.body : (said.findLast(({ response }) => response)?.response ?? {})) as {
    id?: string
    status?: string | number
    output?: Item[]
    error?: { message?: string } | null
  }
  const output = body.output ?? []
  const entries = output.flatMap((item) => (item.type === 'shell_call_output' ? (item.output ?? []) : []))
  return {
    work,
    responseId: body.id ?? '',
    status: typeof body.status === 'string' ? body.status : `refused: ${JSON.stringify(body)}`,
    containerId: output.find(({ environment }) => environment?.container_id)?.environment?.container_id ?? null,
    printed: entries.map(({ stdout = '', stderr = '' }) => `${stdout}\n${stderr}`).join('\n'),
    text: JSON.stringify(body),
    message: body.error?.message ?? '',
  }
}
