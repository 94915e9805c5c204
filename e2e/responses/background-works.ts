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

/** Every second piece of work is done in a conversation of its own. */
export async function createWorks(fleet: Fleet, count: number, spreadMs: number): Promise<Work[]> {
  const begun = performance.now()
  const making: Promise<Work>[] = []
  for (let number = 1; number <= count; number += 1) {
    await sleep(Math.max(0, begun + ((number - 1) * spreadMs) / count - performance.now()))
    making.push(createWork(fleet, number))
  }
  return await Promise.all(making)
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
