/**
 * A whole response that is not kept, against a relay that lets everybody in and reads nothing. What we add: the key, the
 * contract on both sides, the items, the event for webhooks, the log, the metrics.
 */
import assert from 'node:assert/strict'
import type { BenchOptions } from './bench-stack.ts'
import { median, type Figure } from './figure.ts'
import { figureOf, inTurn, type Measured, type Rounds } from './in-turn.ts'
import { ask, bareTwin, benchModel, ourTwin, withProvider } from './responses-stack.ts'

export type ResponsesPlainSize = BenchOptions & Omit<Rounds, 'label'>

const label = 'responses-plain'
const connections = 32
const said = 'All is well on the line.'

const body = JSON.stringify({
  model: benchModel,
  instructions: 'You answer in one sentence.',
  input: 'How is the line today? '.repeat(10),
  store: false,
})

export async function benchResponsesPlain(size: ResponsesPlainSize, say: (line: string) => void): Promise<Figure[]> {
  return await withProvider({ ...size, events: 0 }, async (bench) => {
    const asked = { path: '/v1/responses', body, connections }
    const twins = [ourTwin(bench, asked), await bareTwin(bench, asked)]
    for (const twin of twins) assert((await ask(twin)).includes(said), `${twin.name} passes the answer on`)
    const rounds = await inTurn(bench, twins, { ...size, label }, say)
    const figure = (name: string, unit: string, digits: number, pick: (side: Measured) => number) =>
      figureOf(rounds, { name: `${label} ${name}`, unit, digits }, pick)
    const added = median(rounds.map(([ours, bare]) => (ours?.p50Ms ?? Number.NaN) - (bare?.p50Ms ?? Number.NaN)))
    const p50 = figure('p50', 'ms', 2, ({ p50Ms }) => p50Ms)
    return [
      { ...figure('throughput', 'requests/s', 0, ({ perSecond }) => perSecond), target: { atLeast: 0.5 } },
      { ...p50, measured: `${p50.measured}, ${added.toFixed(2)} ms added`, target: null },
      { ...figure('server CPU per request', 'us', 0, ({ cpuMicros }) => cpuMicros), target: null },
    ]
  })
}
