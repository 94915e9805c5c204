import { WebSocket } from 'ws'
import { sleep } from '#platform/std/clock.ts'
import type { Fleet } from '../responses/fleet.ts'
import { promptOf } from './counting-provider.ts'

const kinds = [
  'response',
  'chat stream',
  'response stream',
  'background',
  'completion',
  'unstored response',
  'socket',
  'chat',
  'unstored stream',
  'completion stream',
] as const
export type Kind = (typeof kinds)[number]

export const kindOf = (number: number): Kind => kinds[number % kinds.length] ?? 'response'

/** Every so many of the streams are left by their client in the middle. */
const leavesEvery = 9
const leavesAfterMs = 600
const leaves = (number: number) => kindOf(number).includes('stream') && number % leavesEvery === 0

/** How a request ended for its client, by the clock of this machine. */
export interface Outcome {
  readonly number: number
  readonly kind: Kind
  readonly end: 'answered' | 'cut' | 'left' | 'refused'
  readonly endedAt: number
  /** As the reply's header says; null when no header came. */
  readonly requestId: string | null
  /** Of a background response that was accepted. */
  readonly responseId: string | null
  /** How often it was told to come back in a moment, and did. */
  readonly postponed: number
  readonly detail: string
}

/** What limits are charged tells the request apart, from the reservation on. */
export const outputMaxOf = (number: number) => outputMaxLeast + number
export const numberOf = (outputMax: number) => outputMax - outputMaxLeast
const outputMaxLeast = 2_000

const models = ['double-chat', 'double-responses', 'double-anthropic'] as const
const shell = { type: 'shell', environment: { type: 'container_auto' } }
const paths = { response: '/responses', chat: '/chat/completions', completion: '/completions' } as const

function bodyOf(number: number): { path: string; body: Record<string, unknown> } {
  const kind = kindOf(number)
  const model = models[Math.floor(number / kinds.length) % models.length] ?? models[0]
  const stream = kind.includes('stream')
  if (kind.startsWith('chat')) {
    const messages = [{ role: 'user', content: promptOf(number) }]
    return { path: paths.chat, body: { model, stream, messages, max_completion_tokens: outputMaxOf(number) } }
  }
  if (kind.startsWith('completion')) {
    const asked = { model, stream, prompt: promptOf(number), max_tokens: outputMaxOf(number) }
    return { path: paths.completion, body: asked }
  }
  const asked = { model, input: promptOf(number), max_output_tokens: outputMaxOf(number) }
  if (kind === 'background')
    return { path: paths.response, body: { ...asked, model: models[0], background: true, tools: [shell] } }
  if (kind === 'socket') return { path: paths.response, body: { ...asked, store: number % 4 === 0 } }
  return { path: paths.response, body: { ...asked, stream, store: !kind.startsWith('unstored') } }
}

const triesMax = 100
const againMs = 100
const requestBoundMs = 120_000

/** Nobody listened: the request was never made. */
const isRefused = (error: unknown): boolean => {
  const { code, cause } = error as { code?: unknown; cause?: unknown }
  return code === 'ECONNREFUSED' || (cause instanceof Error && isRefused(cause))
}

/** As a process says that got no answer from Valkey in time, and limits by itself for a moment. */
const isPostponed = (end: string, detail: string) => end === 'refused' && detail.includes('Please try again in ')

/** Makes one request, to any node that is there. What is cut off stays so. */
export async function makeRequest(fleet: Fleet, apis: number, number: number): Promise<Outcome> {
  const kind = kindOf(number)
  const { projectKey } = fleet.stack.seeded
  let postponed = 0
  for (let tries = 0; ; tries += 1) {
    const port = fleet.portOf((number + tries) % apis)
    const seen: Seen = { requestId: null, responseId: null }
    const told = (end: Outcome['end'], detail = '') => {
      const endedAt = Date.now()
      return { number, kind, end, endedAt, detail, postponed, ...seen }
    }
    try {
      const [end, detail = ''] = await (kind === 'socket'
        ? overSocket(port, projectKey, number)
        : overHttp(port, projectKey, number, seen))
      if (!isPostponed(end, detail) || tries === triesMax) return told(end, detail)
      postponed += 1
      await sleep(againMs)
    } catch (error) {
      if (!isRefused(error) || tries === triesMax) return told('cut', String(error))
      await sleep(againMs)
    }
  }
}

interface Seen {
  requestId: string | null
  responseId: string | null
}

async function overHttp(port: number, key: string, number: number, seen: Seen): Promise<[Outcome['end'], string?]> {
  const { path, body } = bodyOf(number)
  const left = leaves(number) ? AbortSignal.timeout(leavesAfterMs) : null
  const bound = AbortSignal.timeout(requestBoundMs)
  try {
    const reply = await fetch(`http://127.0.0.1:${port}/v1${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: left === null ? bound : AbortSignal.any([left, bound]),
    })
    seen.requestId = reply.headers.get('x-request-id')
    const text = await reply.text()
    if (reply.status !== 200) return ['refused', `${reply.status} ${text}`]
    if (kindOf(number) === 'background') seen.responseId = (JSON.parse(text) as { id: string }).id
    const whole = body['stream'] !== true || /event: response\.completed|data: \[DONE\]/.test(text)
    return whole ? ['answered'] : ['cut', text.slice(-300)]
  } catch (error) {
    if (left?.aborted === true) return ['left']
    throw error
  }
}

/** One response over a socket of its own. */
async function overSocket(port: number, key: string, number: number): Promise<[Outcome['end'], string?]> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/v1/responses`, { headers: { authorization: `Bearer ${key}` } })
  try {
    return await new Promise((resolve, reject) => {
      const bound = setTimeout(() => socket.terminate(), requestBoundMs)
      socket.on('error', reject)
      socket.on('close', () => {
        clearTimeout(bound)
        resolve(['cut', 'closed'])
      })
      socket.on('open', () => socket.send(JSON.stringify({ type: 'response.create', ...bodyOf(number).body })))
      socket.on('message', (data: Buffer) => {
        const event = JSON.parse(data.toString('utf8')) as { type: string }
        if (event.type === 'response.completed') resolve(['answered'])
        if (event.type === 'error' || event.type === 'response.failed') resolve(['refused', data.toString('utf8')])
      })
    })
  } finally {
    socket.terminate()
  }
}
