import type { OpenAI } from 'openai'
import { ResponseStream } from 'openai/lib/responses/ResponseStream'
import { sleep } from '#platform/std/clock.ts'
import { hostedShell } from './background-works.ts'
import type { Fleet } from './fleet.ts'
import { inputOf } from './scripted-work.ts'

export type StreamEvent = OpenAI.Responses.ResponseStreamEvent

export interface Followed {
  readonly work: number
  readonly responseId: string
  /** What all connections gave, one after the other. */
  readonly events: readonly StreamEvent[]
  readonly cuts: number
  /** Connections that ended without having been cut by us. */
  readonly broken: number
}

/** No stream of the script has fewer events. */
const eventsMin = 80
const connectionsMax = 50
const pauseMs = 200

const isLast = ({ type }: StreamEvent) => /^response\.(?:completed|failed|incomplete)$/.test(type)

/** Follows one background response to its end, cutting the connection at random events and going on at the other node. */
export async function followCut(fleet: Fleet, work: number, cuts: number, random: () => number): Promise<Followed> {
  const cutAt = Array.from({ length: cuts }, () => Math.floor(random() * eventsMin)).toSorted((a, b) => a - b)
  const events: StreamEvent[] = []
  let made = 0
  let broken = 0
  for (let connection = 0; connection < connectionsMax; connection += 1) {
    const upTo = cutAt[made] ?? Number.POSITIVE_INFINITY
    const ended = await readTo(() => open(fleet, work, connection, events), events, upTo)
    if (ended === 'over') break
    if (ended === 'cut') made += 1
    else {
      broken += 1
      await sleep(pauseMs)
    }
  }
  return { work, responseId: idOf(events), events, cuts: made, broken }
}

const idOf = ([first]: readonly StreamEvent[]) => (first?.type === 'response.created' ? first.response.id : '')

async function open(
  fleet: Fleet,
  work: number,
  connection: number,
  events: readonly StreamEvent[],
): Promise<AsyncIterable<StreamEvent>> {
  const client = fleet.client((work + connection) % 2)
  const last = events.at(-1)
  if (last !== undefined) {
    const from = { stream: true as const, starting_after: last.sequence_number }
    return await client.responses.retrieve(idOf(events), from)
  }
  return await client.responses.create({
    model: 'double-chat',
    input: inputOf(work),
    background: true,
    stream: true,
    tools: [hostedShell],
  })
}

async function readTo(
  connect: () => Promise<AsyncIterable<StreamEvent>>,
  events: StreamEvent[],
  upTo: number,
): Promise<'over' | 'cut' | 'broken'> {
  try {
    for await (const event of await connect()) {
      events.push(event)
      if (isLast(event)) return 'over'
      // Leaving the loop ends the request.
      if (event.sequence_number >= upTo) return 'cut'
    }
    return 'broken'
  } catch {
    return 'broken'
  }
}

/** All that a new reader is told. */
export async function replay(fleet: Fleet, responseId: string): Promise<StreamEvent[]> {
  const events: StreamEvent[] = []
  for await (const event of await fleet.client().responses.retrieve(responseId, { stream: true })) events.push(event)
  return events
}

/** The text that the SDK's strict helper makes of events. Throws when it does not accept them. */
export async function strictText(events: readonly StreamEvent[]): Promise<string> {
  const lines = events.map((event) => `${JSON.stringify(event)}\n`).join('')
  const response = await ResponseStream.fromReadableStream(new Blob([lines]).stream()).finalResponse()
  return response.output_text
}
