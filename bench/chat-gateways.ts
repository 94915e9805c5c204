/** Chat completions, whole and streamed, beside other gateways to the same provider. */
import assert from 'node:assert/strict'
import type { BenchOptions } from './bench-stack.ts'
import type { Figure } from './figure.ts'
import { startGateways, type Gateway } from './gateways.ts'
import { figureOf, inTurn, type Rounds, type Twin } from './in-turn.ts'
import { ask, benchModel, ourTwin, withProvider, type ResponsesBench } from './responses-stack.ts'

export interface ChatGatewaysSize extends BenchOptions, Omit<Rounds, 'label'> {
  /** Streams that each answers before anything is counted. */
  readonly warmUpStreams: number
}

const path = '/v1/chat/completions'
const connections = 32
const events = 200

const bodyOf = (stream: boolean) => (model: string) =>
  JSON.stringify({
    model,
    messages: [
      { role: 'system', content: 'You answer in one sentence.' },
      { role: 'user', content: 'How is the line today? '.repeat(10) },
    ],
    ...(stream && { stream }),
  })

export async function benchChatGateways(size: ChatGatewaysSize, say: (line: string) => void): Promise<Figure[]> {
  return await withProvider({ ...size, events }, async (bench) => {
    const gateways = await startGateways(bench, bodyOf(false), say)
    if (gateways.length === 0) return []
    const whole = await compare(bench, gateways, { ...size, label: 'chat-gateways whole' }, false, say)
    const warmUpRequests = size.warmUpStreams
    const streamed = await compare(
      bench,
      gateways,
      { ...size, warmUpRequests, label: 'chat-gateways streamed' },
      true,
      say,
    )
    return [...whole, ...streamed]
  })
}

async function compare(
  bench: ResponsesBench,
  gateways: readonly Gateway[],
  size: Rounds,
  stream: boolean,
  say: (line: string) => void,
): Promise<Figure[]> {
  const ours = ourTwin(bench, { path, body: bodyOf(stream)(benchModel), connections })
  const others = gateways.map(({ model, twin }): Twin => {
    return { ...twin, load: { ...twin.load, body: bodyOf(stream)(model), connections } }
  })
  const twins = [ours, ...others]
  for (const twin of twins) {
    const text = await ask(twin)
    const told = stream ? text.split('\n\n').length - 1 : Number(text.includes('All is well'))
    assert(told >= (stream ? events : 1), `${twin.name} passes the answer on: ${text.slice(0, 300)}`)
  }
  const rounds = await inTurn(bench, twins, size, say)
  const each = stream ? events : 1
  return gateways.flatMap(({ name }, at): Figure[] => {
    const of = (what: string, unit: string) => ({
      name: `${size.label} ${name} ${what}`,
      unit,
      digits: 0,
      against: at + 1,
    })
    return [
      {
        ...figureOf(rounds, of('throughput', stream ? 'events/s' : 'requests/s'), ({ perSecond }) => perSecond * each),
        target: { atLeast: 1 },
      },
      { ...figureOf(rounds, of('server CPU per request', 'us'), ({ cpuMicros }) => cpuMicros), target: null },
    ]
  })
}
