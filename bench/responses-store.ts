/**
 * What keeping a response costs, beside one that is not kept; and what a turn costs as its history grows, beside how many
 * characters of it the model is sent. Processor time of the server and of PostgreSQL together.
 */
import type { BenchOptions } from './bench-stack.ts'
import { median, type Figure } from './figure.ts'
import { figureOf, inTurn, type Round, type Rounds, type Twin } from './in-turn.ts'
import { ask, benchModel, ourTwin, withProvider, type ResponsesBench } from './responses-stack.ts'

export interface ResponsesStoreSize extends BenchOptions, Omit<Rounds, 'label'> {
  /** Items of history, shortest first; a turn of the history is two of them. */
  readonly historyItems: readonly number[]
}

const label = 'responses-store'
const path = '/v1/responses'
const connections = 8
const question = 'How is the line today? '.repeat(10)
const itemsPerTurn = 2

export async function benchResponsesStore(size: ResponsesStoreSize, say: (line: string) => void): Promise<Figure[]> {
  return await withProvider({ ...size, events: 0 }, async (bench) => {
    const figures = await costOfKeeping(bench, size, say)
    return [...figures, ...(await costOfHistory(bench, size, say))]
  })
}

function twinOf(bench: ResponsesBench, name: string, fields: object): Twin {
  const body = JSON.stringify({ model: benchModel, input: question, ...fields })
  const twin = ourTwin(bench, { path, body, connections })
  const postgres = bench.stack.postgres?.pid
  return { ...twin, name, pids: [...twin.pids, ...(postgres === undefined ? [] : [postgres])] }
}

async function costOfKeeping(
  bench: ResponsesBench,
  size: ResponsesStoreSize,
  say: (line: string) => void,
): Promise<Figure[]> {
  const twins = [twinOf(bench, 'kept', { store: true }), twinOf(bench, 'not kept', { store: false })]
  const rounds = await inTurn(bench, twins, { ...size, label }, say)
  const of = (name: string) => ({ name: `${label} kept beside not kept, ${name}`, unit: 'us', digits: 0 })
  const added = (pick: (side: Round[number]) => number) =>
    median(rounds.map(([kept, not]) => (kept && not ? pick(kept) - pick(not) : Number.NaN)))
  const cpu = figureOf(rounds, of('CPU per response'), ({ cpuMicros }) => cpuMicros)
  const p50 = figureOf(rounds, { ...of('p50'), unit: 'ms', digits: 2 }, ({ p50Ms }) => p50Ms)
  return [
    { ...cpu, measured: `${cpu.measured}, ${added(({ cpuMicros }) => cpuMicros).toFixed(0)} us added`, target: null },
    { ...p50, measured: `${p50.measured}, ${added(({ p50Ms }) => p50Ms).toFixed(2)} ms added`, target: null },
  ]
}

interface Turn {
  readonly items: number
  readonly twin: Twin
  /** What one turn sends to the model. */
  readonly characters: number
}

/**
 * Growth of the cost from one length to the next, over the growth of what is sent: at most 1 says that no part of a turn
 * grows faster than the history that the model has to be sent anyway.
 */
async function costOfHistory(
  bench: ResponsesBench,
  size: ResponsesStoreSize,
  say: (line: string) => void,
): Promise<Figure[]> {
  const turns: Turn[] = []
  let previous: string | null = null
  let items = 0
  for (const wanted of size.historyItems) {
    for (; items < wanted; items += itemsPerTurn) previous = await takeTurn(bench, previous)
    const twin = twinOf(bench, `${wanted} items`, { previous_response_id: previous })
    turns.push({ items: wanted, twin, characters: await sentBy(bench, twin) })
    say(`${label}: a history of ${wanted} items sends ${turns.at(-1)?.characters} characters`)
  }
  const twins = turns.map(({ twin }) => twin)
  const warmUpRequests = Math.ceil(size.warmUpRequests / turns.length)
  const rounds = await inTurn(bench, twins, { ...size, warmUpRequests, label: `${label} history` }, say)
  return turns.slice(1).map((longer, at): Figure => {
    const shorter = turns[at] as Turn
    const cost = (round: Round, which: number) => round[which]?.cpuMicros ?? Number.NaN
    const growth = longer.characters / shorter.characters
    const side = (which: number) => median(rounds.map((round) => cost(round, which))).toFixed(0)
    return {
      name: `${label} growth of CPU from ${shorter.items} to ${longer.items} items over growth of characters`,
      ratio: median(rounds.map((round) => cost(round, at + 1) / cost(round, at))) / growth,
      measured: `${side(at + 1)} : ${side(at)} us for ${longer.characters} : ${shorter.characters} characters`,
      target: { atMost: 1.2 },
    }
  })
}

async function takeTurn(bench: ResponsesBench, previous: string | null): Promise<string> {
  const fields = previous === null ? {} : { previous_response_id: previous }
  return (JSON.parse(await ask(twinOf(bench, 'history', fields))) as { id: string }).id
}

async function sentBy({ provider }: ResponsesBench, twin: Twin): Promise<number> {
  const taken = async () => ((await (await fetch(`${provider}/`)).json()) as { bytesTaken: number }).bytesTaken
  const before = await taken()
  await ask(twin)
  return (await taken()) - before
}
