import { sleep } from '#platform/std/clock.ts'
import { becomesTrue } from '../../dev/engines/wait-until.ts'
import type { Checks } from '../load/checks.ts'
import { eachOf, tryConversations } from './audit-background.ts'
import type { EventSink } from './event-sink.ts'
import type { Fleet } from './fleet.ts'

interface Losing {
  readonly fleet: Fleet
  readonly checks: Checks
  readonly sink: EventSink
  readonly count: number
}

/** The node's lease is 15 s, the sweep comes every 2 s; the rest is for closing them on a busy machine. */
const closedWithinMs = 25_000
const boundMs = 90_000
const pollMs = 200

interface Seen {
  readonly ended: number
  readonly failed: number
  readonly running: number
}

/** Half of them wait in conversations for a whole answer, half are streams. */
async function open(fleet: Fleet, conversations: readonly string[], count: number): Promise<Promise<boolean>[]> {
  const client = fleet.client(0, 0)
  fleet.double.decide(() => ({ text: 'never said', trouble: 'hang' }))
  const waiting = Array.from({ length: count }, async (_none, index) => {
    const conversation = conversations[index]
    try {
      if (conversation !== undefined) {
        await client.responses.create({ model: 'double-chat', input: 'Wait.', conversation })
        return false
      }
      const stream = await client.responses.create({ model: 'double-chat', input: 'Wait.', stream: true })
      for await (const event of stream) if (event.type === 'response.completed') return false
      return true
    } catch {
      return true
    }
  })
  const isOpen = async () => (await look(fleet)).running >= count
  if (!(await becomesTrue(isOpen, boundMs))) throw new Error(`not in time: ${count} foreground responses open`)
  return waiting
}

async function look(fleet: Fleet): Promise<Seen> {
  const { rows } = await fleet.db.query<Seen>(
    `select count(*) filter (where ended_status is not null)::int as ended,
       count(*) filter (where ended_status = 'failed')::int as failed,
       (select count(*)::int from responses.running where node is not null) as running
     from responses.response where not background and asked ->> 'instructions' is null
       and exists (select 1 from responses.item i where i.response_id = response.id and i.item::text like '%Wait.%')`,
  )
  return rows[0] ?? { ended: 0, failed: 0, running: 0 }
}

const answersAfterMs = 3_000
const killedAfterMs = 1_500
/** The node looks after what it has lost every 5 s. */
const settledWithinMs = 20_000

/** PostgreSQL falls while foreground responses are open, and is away when they end. */
export async function losePostgres({ fleet, checks, count }: Losing): Promise<void> {
  const { postgres } = fleet.stack
  const conversations = await eachOf(Array.from({ length: count }), async () => {
    const { id } = await fleet.client().conversations.create({})
    return id
  })
  fleet.double.decide(async () => {
    await sleep(answersAfterMs)
    return 'Late.'
  })
  const client = fleet.client(0, 0)
  const asking = conversations.map((conversation) =>
    client.responses.create({ model: 'double-chat', input: 'Hurry.', conversation }).then(
      ({ status }) => status ?? 'nothing',
      () => 'refused',
    ),
  )
  await sleep(killedAfterMs)
  await postgres?.kill9()
  const told = await Promise.all(asking)
  const backAt = performance.now()
  await postgres?.restart()
  const isClear = async () => (await countRunning(fleet).catch(() => 1)) === 0
  const clear = await becomesTrue(isClear, boundMs)
  const tookMs = Math.round(performance.now() - backAt)
  checks.expect(
    `responses that ended while PostgreSQL was away are closed within ${settledWithinMs / 1_000} s of its return`,
    clear && tookMs <= settledWithinMs,
    `${told.filter((one) => one === 'refused').length} of ${count} clients were refused; closed after ${(tookMs / 1_000).toFixed(1)} s`,
  )
  fleet.double.decide(() => 'Hello.')
  await tryConversations(fleet, checks, conversations)
}

async function countRunning(fleet: Fleet): Promise<number> {
  const { rows } = await fleet.db.query<{ running: number }>('select count(*)::int as running from responses.running')
  return rows[0]?.running ?? 0
}

export async function loseForeground({ fleet, checks, sink, count }: Losing): Promise<void> {
  const half = Math.floor(count / 2)
  const conversations = await eachOf(Array.from({ length: half }), async () => {
    const { id } = await fleet.client().conversations.create({})
    return id
  })
  // Alone on a shared port, so that all of them are on the node that falls.
  if (!fleet.apart) await fleet.of('api', 1).process.kill9()
  const waiting = await open(fleet, conversations, count)
  if (!fleet.apart) {
    await fleet.of('api', 1).process.start()
    await fleet.of('api', 1).waitReady()
  }
  const fellAt = performance.now()
  await fleet.of('api', 0).process.kill9()
  const told = await Promise.all(waiting)
  checks.expect(
    'clients of a node that is killed are told by a broken connection',
    told.every((broken) => broken),
  )
  let seen = await look(fleet)
  while (seen.ended < count && performance.now() - fellAt < boundMs) {
    await sleep(pollMs)
    seen = await look(fleet)
  }
  const tookMs = Math.round(performance.now() - fellAt)
  checks.expect(
    `${count} foreground responses of a killed node are closed as failed within ${closedWithinMs / 1_000} s`,
    seen.failed === count && seen.running === 0 && tookMs <= closedWithinMs,
    `${seen.failed} failed, ${seen.running} left, after ${(tookMs / 1_000).toFixed(1)} s`,
  )
  const failedEvents = () => [...sink.byWebhookId.values()].filter(({ type }) => type === 'response.failed')
  await becomesTrue(() => failedEvents().length >= count, boundMs)
  const tellOf = new Set(failedEvents().map(({ responseId }) => responseId))
  checks.expect(
    'one response.failed each reached the webhook',
    failedEvents().length === count && tellOf.size === count,
    `${failedEvents().length} ids`,
  )
  await fleet.of('api', 0).process.start()
  await fleet.of('api', 0).waitReady()
  fleet.double.decide(() => 'Hello.')
  await tryConversations(fleet, checks, conversations)
}
