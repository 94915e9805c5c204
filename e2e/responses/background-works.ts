import { sleep } from '#platform/std/clock.ts'
import type { Fleet } from './fleet.ts'
import { inputOf } from './scripted-work.ts'

export interface Work {
  readonly number: number
  readonly responseId: string
  readonly conversationId: string | null
}

const createBoundMs = 120_000
const endBoundMs = 900_000
const pollMs = 500
const toldEveryMs = 10_000
const requestBoundMs = 10_000

export const hostedShell = { type: 'shell' as const, environment: { type: 'container_auto' as const } }

/** Pieces of work that are begun a share at a time. Every second is done in a conversation of its own. */
export class Works {
  readonly #fleet: Fleet
  readonly #count: number
  readonly #making: Promise<Work>[] = []

  constructor(fleet: Fleet, count: number) {
    this.#fleet = fleet
    this.#count = count
  }

  /** Begins so many that this share of all has been begun. */
  begin(share: number): void {
    while (this.#making.length < Math.min(this.#count, Math.ceil(share * this.#count))) {
      this.#making.push(createWork(this.#fleet, this.#making.length + 1))
    }
  }

  /** All of them, once each was accepted. */
  async accepted(): Promise<Work[]> {
    this.begin(1)
    return await Promise.all(this.#making)
  }
}

async function createWork(fleet: Fleet, number: number): Promise<Work> {
  const client = fleet.client()
  const conversation =
    number % 2 === 0 ? await untilDone(() => client.conversations.create({}, { timeout: requestBoundMs })) : null
  // The key makes the request one, however often its answer is lost.
  const sure = { headers: { 'Idempotency-Key': `work-${number}` }, timeout: requestBoundMs }
  const { id } = await untilDone(() =>
    client.responses.create(
      {
        model: 'double-chat',
        input: inputOf(number),
        background: true,
        tools: [hostedShell],
        ...(conversation === null ? {} : { conversation: conversation.id }),
      },
      sure,
    ),
  )
  return { number, responseId: id, conversationId: conversation?.id ?? null }
}

/** What the SDK's own retries did not get through the kills is asked again. */
export async function untilDone<Result>(ask: () => Promise<Result>): Promise<Result> {
  const deadline = performance.now() + createBoundMs
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      if (performance.now() > deadline) throw error
      await sleep(pollMs)
    }
  }
}

export async function waitForEnds(fleet: Fleet, count: number): Promise<void> {
  const begun = performance.now()
  let toldAt = begun
  while (performance.now() - begun < endBoundMs) {
    const ended = await countEnded(fleet)
    if (ended >= count) return
    if (performance.now() - toldAt > toldEveryMs) {
      toldAt = performance.now()
      console.log(`  ${Math.round((toldAt - begun) / 1_000)} s after the kills: ${ended} of ${count} have ended`)
    }
    await sleep(pollMs)
  }
  console.log(`  not everything ended within ${endBoundMs / 1_000} s`)
}

async function countEnded(fleet: Fleet): Promise<number> {
  try {
    const { rows } = await fleet.db.query<{ ended: number }>(
      'select count(*)::int as ended from responses.response where ended_status is not null',
    )
    return rows[0]?.ended ?? 0
  } catch {
    // PostgreSQL may be on its way back from the last kill.
    return 0
  }
}
