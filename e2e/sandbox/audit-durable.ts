import type { OpenAI } from 'openai'
import { becomesTrue } from '../../dev/engines/wait-until.ts'
import type { Checks } from '../load/checks.ts'
import { printTable } from '../load/print-table.ts'
import { eachOf } from '../responses/audit-background.ts'
import { untilDone } from '../responses/background-works.ts'
import type { EventSink } from '../responses/event-sink.ts'
import { countTokens } from './boxes-on-disk.ts'
import type { SandboxKill } from './kill-sandbox.ts'
import type { Host, SandboxFleet } from './sandbox-fleet.ts'
import { commandsPerWork, printedBy, tokenOf } from './shell-work.ts'
import { isCancelled, type ShellWork } from './shell-works.ts'

export interface DurableAudit {
  readonly fleet: SandboxFleet
  readonly checks: Checks
  readonly sink: EventSink
  readonly works: readonly ShellWork[]
  readonly kills: readonly SandboxKill[]
  readonly lost: Host
}

interface ReadBack {
  readonly work: ShellWork
  readonly response: OpenAI.Responses.Response
  readonly numbers: readonly number[]
  readonly terminal: readonly string[]
  readonly calls: readonly Call[]
  /** Its container was on the host that is gone. */
  readonly hostLost: boolean
}

interface Call {
  readonly index: number
  /** `none`: the response ended without it. */
  readonly output: 'completed' | 'incomplete' | 'none'
  readonly right: boolean
}

const deliveredMs = 120_000
const shownMax = 5

export async function auditDurable(audit: DurableAudit): Promise<void> {
  const lostIds = await responsesOf(audit.fleet, audit.lost)
  const read = await eachOf(audit.works, (work) => readBack(audit.fleet, work, lostIds))
  checkEnds(audit, read)
  checkCommands(audit, read)
  checkEvents(audit, read)
  await checkDeliveries(audit, read)
  printSummary(audit, read)
}

async function responsesOf(fleet: SandboxFleet, { id }: Host): Promise<Set<string>> {
  const { rows } = await fleet.db.query<{ response_id: string }>(
    'select response_id from containers.container where host_id = $1 and response_id is not null',
    [id],
  )
  return new Set(rows.map(({ response_id }) => response_id))
}

async function readBack(fleet: SandboxFleet, work: ShellWork, lostIds: ReadonlySet<string>): Promise<ReadBack> {
  const client = fleet.client()
  const response = await untilDone(() => client.responses.retrieve(work.responseId))
  const numbers: number[] = []
  const terminal: string[] = []
  for await (const event of await client.responses.retrieve(work.responseId, { stream: true })) {
    numbers.push(event.sequence_number)
    if (/^response\.(?:completed|failed|incomplete|cancelled)$/.test(event.type)) terminal.push(event.type)
  }
  return { work, response, numbers, terminal, calls: callsOf(response), hostLost: lostIds.has(work.responseId) }
}

function callsOf({ output }: OpenAI.Responses.Response): Call[] {
  const made = output.flatMap((item) => (item.type === 'shell_call' ? [item.call_id] : []))
  return made.map((callId, index) => {
    const found = output.find((item) => item.type === 'shell_call_output' && item.call_id === callId)
    if (found?.type !== 'shell_call_output') return { index, output: 'none', right: false }
    const [entry] = found.output
    const right = entry?.outcome.type === 'exit' && entry.outcome.exit_code === 0 && entry.stdout === printedBy(index)
    return { index, output: found.status === 'completed' ? 'completed' : 'incomplete', right }
  })
}

const some = (texts: readonly string[]) => texts.slice(0, shownMax).join('; ')

function checkEnds({ checks }: DurableAudit, read: readonly ReadBack[]): void {
  const wrong = read.flatMap(({ work, response, hostLost }) => {
    const { status, error } = response
    if (status === 'completed' && !isCancelled(work.number)) return []
    if (status === 'cancelled' && isCancelled(work.number)) return []
    if (status === 'failed' && hostLost && (error?.message ?? '') !== '') return []
    return [`${response.id} ${status} ${error?.message ?? ''}`]
  })
  checks.expect(
    'each response finished, or was cancelled as asked, or failed and says why because its host is gone',
    wrong.length === 0,
    some(wrong),
  )
  const others = read.filter(({ response, hostLost }) => response.status === 'completed' && !hostLost)
  const whole = others.filter(({ calls }) => calls.length === commandsPerWork)
  checks.expect(
    'each that finished has all of its calls',
    whole.length === others.length && others.length > 0,
    `${others.length} responses`,
  )
}

function checkCommands({ checks, fleet, works }: DurableAudit, read: readonly ReadBack[]): void {
  const { begun, ended } = countTokens(fleet.hosts.map(({ dir }) => dir))
  const tokens = works.flatMap(({ number }) =>
    Array.from({ length: commandsPerWork }, (_none, index) => tokenOf(number, index)),
  )
  const twice = tokens.filter((token) => (begun.get(token) ?? 0) > 1 || (ended.get(token) ?? 0) > 1)
  const total = tokens.filter((token) => begun.has(token)).length
  checks.expect('no command ran twice', twice.length === 0, `${total} commands left a line; ${some(twice)}`)
  const completed = read.flatMap(({ work, calls }) =>
    calls.filter(({ output }) => output === 'completed').map(({ index, right }) => ({ work, index, right })),
  )
  const wrong = completed.filter(({ work: { number }, index, right }) => {
    if (isCancelled(number)) return false
    return !right || begun.get(tokenOf(number, index)) !== 1 || ended.get(tokenOf(number, index)) !== 1
  })
  checks.expect(
    'each call that is shown as completed ran once to its end and shows what it printed',
    wrong.length === 0,
    `${completed.length} calls; ${some(wrong.map(({ work, index }) => `${work.responseId} call ${index}`))}`,
  )
  const odd = read.filter(({ hostLost, calls }) => !hostLost && calls.some(({ output }) => output === 'none'))
  const unsaid = odd.filter(({ work }) => !isCancelled(work.number))
  checks.expect(
    'each call has an output, of an interrupted one too',
    unsaid.length === 0,
    some(unsaid.map(({ response }) => response.id)),
  )
  const outlived = works.filter(({ number }) => isCancelled(number) && ended.has(tokenOf(number, 0)))
  checks.expect(
    'a command of a cancelled response ended with it',
    outlived.length === 0,
    `${works.filter(({ number }) => isCancelled(number) && begun.has(tokenOf(number, 0))).length} cancelled as it ran`,
  )
}

function checkEvents({ checks }: DurableAudit, read: readonly ReadBack[]): void {
  const gaps = read.filter(({ numbers }) => numbers.some((number, at) => number !== at))
  const ends = read.filter(({ terminal }) => terminal.length > 1)
  checks.expect(
    'the stored events of each have the numbers 0, 1, 2, …, and end once',
    gaps.length + ends.length === 0,
    `${read.reduce((sum, { numbers }) => sum + numbers.length, 0)} events`,
  )
}

async function checkDeliveries({ checks, sink }: DurableAudit, read: readonly ReadBack[]): Promise<void> {
  await becomesTrue(() => read.every(({ response }) => sink.typesOf().has(response.id)), deliveredMs)
  const types = sink.typesOf()
  const wrong = read.filter(({ response }) => types.get(response.id)?.join() !== `response.${response.status}`)
  checks.expect(
    'one event of its end each reached the webhook, counted by webhook-id',
    wrong.length === 0,
    `${sink.byWebhookId.size} ids in ${sink.requests} requests; ${some(wrong.map(({ response }) => response.id))}`,
  )
}

function printSummary({ kills, works }: DurableAudit, read: readonly ReadBack[]): void {
  const count = (status: string) => read.filter(({ response }) => response.status === status).length
  const incomplete = (hostLost: boolean) =>
    read
      .filter((one) => one.hostLost === hostLost && !isCancelled(one.work.number))
      .reduce((sum, { calls }) => sum + calls.filter(({ output }) => output === 'incomplete').length, 0)
  const failures = read.flatMap(({ response }) => (response.status === 'failed' ? [response.error?.message] : []))
  printTable([
    ['What', 'Count'],
    ['responses', works.length],
    ['completed', count('completed')],
    ['cancelled', count('cancelled')],
    ['failed: host gone', count('failed')],
    ['kills', kills.length],
    ['commands open at kills', kills.reduce((sum, { commandsOpen }) => sum + commandsOpen, 0)],
    ['calls reported as interrupted, host alive', incomplete(false)],
    ['calls reported as interrupted, host gone', incomplete(true)],
  ])
  for (const reason of new Set(failures.map((text) => text?.replace(/cntr_\w+/, 'cntr_…'))))
    console.log(`  "${reason}"`)
}
