import type { OpenAI } from 'openai'
import { becomesTrue } from '../../dev/engines/wait-until.ts'
import type { Checks } from '../load/checks.ts'
import { untilDone, type Work } from './background-works.ts'
import type { EventSink } from './event-sink.ts'
import type { Fleet } from './fleet.ts'
import type { Kill } from './kill-in-turn.ts'
import { printedBy } from './ledger-shell.ts'
import { commandOf, commandsPerWork, finalTextOf, repeatsIn, turnsPerWork, type Turn } from './scripted-work.ts'

export interface Audit {
  readonly fleet: Fleet
  readonly checks: Checks
  readonly sink: EventSink
  readonly works: readonly Work[]
  readonly turns: readonly Turn[]
  readonly kills: readonly Kill[]
}

type Response = OpenAI.Responses.Response

const deliveredBoundMs = 120_000
const atOnce = 16
const shownMax = 5
const conversationsTried = 10
/** Its input, and what it said: calls with their outputs, and the last word. */
const itemsPerConversation = 1 + 2 * commandsPerWork + 1

export async function auditBackground(audit: Audit): Promise<void> {
  const { fleet, works } = audit
  const read = await eachOf(works, (work) => readBack(fleet, work))
  checkItems(audit, read)
  checkTurns(audit)
  checkShell(audit, read)
  await checkDeliveries(audit)
  await checkLocks(audit)
}

interface ReadBack {
  readonly work: Work
  readonly response: Response
  readonly numbers: readonly number[]
  readonly terminal: readonly string[]
}

async function readBack(fleet: Fleet, work: Work): Promise<ReadBack> {
  const client = fleet.client()
  const response = await untilDone(() => client.responses.retrieve(work.responseId))
  const numbers: number[] = []
  const terminal: string[] = []
  for await (const event of await client.responses.retrieve(work.responseId, { stream: true })) {
    numbers.push(event.sequence_number)
    if (/^response\.(?:completed|failed|incomplete)$/.test(event.type)) terminal.push(event.type)
  }
  return { work, response, numbers, terminal }
}

function checkItems({ checks }: Audit, read: readonly ReadBack[]): void {
  const wrong = read.flatMap((one) => wrongIn(one))
  const statuses = new Map<string, number>()
  for (const { response } of read) statuses.set(response.status ?? '', (statuses.get(response.status ?? '') ?? 0) + 1)
  checks.expect(
    'every background response is completed',
    statuses.get('completed') === read.length,
    [...statuses].map(([status, count]) => `${count} ${status}`).join(', '),
  )
  checks.expect(
    'each has exactly its items: five calls with their outputs, and the right last word',
    wrong.length === 0,
    wrong.length === 0
      ? `${read.reduce((sum, { response }) => sum + response.output.length, 0)} items`
      : `${wrong.length} wrong: ${wrong.slice(0, shownMax).join('; ')}`,
  )
  const ids = read.flatMap(({ response }) => response.output.map((item) => String(item.id)))
  checks.expect('no item is there twice', new Set(ids).size === ids.length, `${ids.length} ids`)
  const gaps = read.filter(({ numbers }) => numbers.some((number, at) => number !== at))
  const ends = read.filter(({ terminal }) => terminal.length !== 1 || terminal[0] !== 'response.completed')
  checks.expect(
    'the stored events of each have the numbers 0, 1, 2, …, and end once',
    gaps.length + ends.length === 0,
    `${read.reduce((sum, { numbers }) => sum + numbers.length, 0)} events`,
  )
}

function wrongIn({ work, response }: ReadBack): string[] {
  const told = response.output.map((item) => {
    if (item.type === 'shell_call') return `call ${item.action.commands.join(' ')}`
    if (item.type === 'shell_call_output') return `output ${item.output.map(({ stdout }) => stdout).join(' ')}`
    if (item.type === 'message') return `text ${response.output_text}`
    return item.type
  })
  const wanted = [
    ...Array.from({ length: commandsPerWork }, (_none, index) => commandOf(work.number, index)).flatMap((command) => [
      `call ${command}`,
      `output ${printedBy(command)}`,
    ]),
    `text ${finalTextOf(work.number)}`,
  ]
  return JSON.stringify(told) === JSON.stringify(wanted) ? [] : [`${response.id}: ${told.join(' | ')}`]
}

const tellMax = 40
const sinceS = (fromMs: number, atMs: number) => ((atMs - fromMs) / 1_000).toFixed(1)

function checkTurns({ checks, works, turns, kills }: Audit): void {
  const made = turns.filter(({ work }) => Number.isInteger(work))
  const repeats = repeatsIn(made)
  const stopping = kills.filter(({ victim }) => victim !== 'api')
  const unexplained = repeats.filter(
    ({ firstMs, againMs }) => !stopping.some(({ fromMs, backMs }) => firstMs <= backMs && fromMs <= againMs),
  )
  const wanted = works.length * turnsPerWork
  const open = stopping.reduce((sum, { turnsOpen }) => sum + turnsOpen, 0)
  for (const { victim, fromMs, backMs } of kills) {
    const met = repeats.filter(({ firstMs, againMs }) => firstMs <= backMs && fromMs <= againMs)
    const waits = met.map(({ firstMs, againMs }) => `${sinceS(fromMs, firstMs)}..${sinceS(fromMs, againMs)}`)
    if (met.length > 0)
      console.log(`  ${victim}, back after ${sinceS(fromMs, backMs)} s: ${waits.slice(0, tellMax).join(' ')}`)
  }
  checks.expect('no model turn is missing', made.length - repeats.length === wanted, `${wanted} turns`)
  checks.expect(
    'a model turn is repeated only when a kill fell into it',
    unexplained.length === 0,
    `${repeats.length} repeated, ${unexplained.length} of them unexplained; ${open} were open at ${stopping.length} kills`,
  )
}

function checkShell({ checks, fleet, works }: Audit, read: readonly ReadBack[]): void {
  const { calls, askedAgain } = fleet.ledger()
  const shown = read.flatMap(({ response }) =>
    response.output.flatMap((item) => (item.type === 'shell_call' ? [item.call_id] : [])),
  )
  const wanted = works.length * commandsPerWork
  checks.expect(
    'every shell call that is shown was begun once, and no other was begun',
    calls.size === wanted && shown.length === wanted && shown.every((id) => calls.has(id)),
    `${calls.size} of ${wanted} begun, ${askedAgain} asked for again and given the same answer`,
  )
}

async function checkDeliveries({ checks, sink, works }: Audit): Promise<void> {
  const all = () => works.every(({ responseId }) => sink.typesOf().has(responseId))
  await becomesTrue(all, deliveredBoundMs)
  const types = sink.typesOf()
  const wrong = works.filter(({ responseId }) => types.get(responseId)?.join() !== 'response.completed')
  checks.expect(
    'one response.completed each reached the webhook, counted by webhook-id',
    wrong.length === 0,
    `${sink.byWebhookId.size} ids in ${sink.requests} requests${wrong.length === 0 ? '' : `, ${wrong.length} wrong`}`,
  )
}

async function checkLocks({ checks, fleet, works }: Audit): Promise<void> {
  const { rows } = await fleet.db.query<{ running: number; odd: number }>(
    `select (select count(*)::int from responses.running) as running,
       (select count(*)::int from (select 1 from responses.conversation_item
        group by conversation_id having count(*) <> ${itemsPerConversation}) as odd) as odd`,
  )
  checks.expect('nothing is left under way', rows[0]?.running === 0, `${rows[0]?.running} rows`)
  const conversations = works.flatMap(({ conversationId }) => (conversationId === null ? [] : [conversationId]))
  checks.expect(
    'every conversation has its items once',
    rows[0]?.odd === 0,
    `${conversations.length} conversations of ${itemsPerConversation} items`,
  )
  await tryConversations(fleet, checks, conversations)
}

export async function tryConversations(fleet: Fleet, checks: Checks, conversations: readonly string[]): Promise<void> {
  const tried = conversations.slice(0, conversationsTried)
  const client = fleet.client()
  const replies = await eachOf(tried, async (conversation) => {
    const reply = await client.responses.create({ model: 'double-chat', input: 'Say hello.', conversation })
    return reply.status
  })
  checks.expect(
    'the conversations go on',
    replies.every((status) => status === 'completed'),
    `${tried.length} tried`,
  )
}

/** So many at once, so that a small machine is not measured by what it refuses. */
export async function eachOf<Value, Result>(
  values: readonly Value[],
  work: (value: Value, index: number) => Promise<Result>,
): Promise<Result[]> {
  const results: Result[] = []
  let next = 0
  const lane = async () => {
    while (next < values.length) {
      const at = next
      next += 1
      results[at] = await work(values[at] as Value, at)
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, values.length) }, lane))
  return results
}
