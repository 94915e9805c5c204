/** Many streamed responses at once, against a relay that pipes the provider's events through without looking at them. */
import assert from 'node:assert/strict'
import type { BenchOptions } from './bench-stack.ts'
import type { Figure } from './figure.ts'
import { figureOf, inTurn, type Measured, type Rounds } from './in-turn.ts'
import { ask, bareTwin, benchModel, ourTwin, withProvider } from './responses-stack.ts'

export type ResponsesStreamSize = BenchOptions & Omit<Rounds, 'label'>

const label = 'responses-stream'
const connections = 100
const events = 200

const body = JSON.stringify({ model: benchModel, input: 'Tell me all about the line.', store: false, stream: true })

const eventsIn = (text: string) => text.split('\n\n').length - 1

export async function benchResponsesStream(size: ResponsesStreamSize, say: (line: string) => void): Promise<Figure[]> {
  return await withProvider({ ...size, events }, async (bench) => {
    const asked = { path: '/v1/responses', body, connections }
    const twins = [ourTwin(bench, asked), await bareTwin(bench, asked)]
    const counts: number[] = []
    for (const twin of twins) counts.push(eventsIn(await ask(twin)))
    assert(
      counts.every((count) => count >= events),
      `each stream has at least ${events} events: ${counts.join()}`,
    )
    const rounds = await inTurn(bench, twins, { ...size, label }, say)
    for (const measured of rounds.flat()) assert(measured.events >= measured.requests * events, 'no event is missing')
    const figure = (name: string, unit: string, digits: number, pick: (side: Measured) => number) =>
      figureOf(rounds, { name: `${label} ${name}`, unit, digits }, pick)
    // Only what the model said counts: what our stream says around it is not counted in our favour.
    return [
      { ...figure('throughput', 'events/s', 0, ({ perSecond }) => perSecond * events), target: { atLeast: 0.5 } },
      { ...figure('server CPU per event', 'us', 1, ({ cpuMicros }) => cpuMicros / events), target: null },
    ]
  })
}
