import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as after } from 'node:timers/promises'
import { answerParent, sharedNow } from '../webhooks/child.ts'
import type { CallCounts, ProviderQuestion } from './provider.ts'
import { answerOf, kindOf, rowIn, type CallKind } from './row-calls.ts'

const timesMax = 255

let latencyMs = 0
let calls: Record<CallKind, Uint8Array> = { sample: new Uint8Array(0), grade: new Uint8Array(0) }
/** When something last happened to a row here. */
let movedAt = new Float64Array(0)
let counts = { begun: 0, answered: 0, rows: 0, strays: 0 }
let allowed = Infinity
/** Answers that wait until more rows are allowed. */
let held: (() => void)[] = []
const bodies: Record<CallKind, string> = { sample: '', grade: '' }

function note(row: number, kind: CallKind, body: string): void {
  counts.begun += 1
  if (bodies[kind] === '') bodies[kind] = body
  // Rows beyond those of the proof are of a warm-up or a twin.
  if (row >= movedAt.length) return
  const of = calls[kind]
  of[row] = Math.min((of[row] ?? 0) + 1, timesMax)
  movedAt[row] = sharedNow()
}

function noteAnswered(row: number, kind: CallKind): void {
  counts.answered += 1
  if (row >= movedAt.length) return
  movedAt[row] = sharedNow()
  if (kind === 'grade') counts.rows += 1
}

const server = createServer((request, response) => {
  const taken: Buffer[] = []
  request.on('data', (bytes: Buffer) => taken.push(bytes))
  request.on('end', () => {
    const body = Buffer.concat(taken).toString('utf8')
    const row = rowIn(body)
    if (row === null) {
      counts.strays += 1
      response.writeHead(400, { 'content-type': 'application/json' }).end('{}')
      return
    }
    const kind = kindOf(body)
    note(row, kind, body)
    const reply = () => {
      if (response.destroyed) return
      noteAnswered(row, kind)
      const answer = answerOf(row, kind)
      const length = Buffer.byteLength(answer)
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': length }).end(answer)
    }
    void after(latencyMs).then(() => (counts.rows < allowed ? reply() : void held.push(reply)))
  })
})
// A twin may pause for minutes; its connections shall be there when it goes on.
server.keepAliveTimeout = 0

answerParent<ProviderQuestion>(async (question) => {
  switch (question.kind) {
    case 'listen':
      await new Promise<void>((resolve) => server.listen({ port: 0, host: '127.0.0.1', backlog: 1_024 }, resolve))
      return (server.address() as AddressInfo).port
    case 'begin':
      latencyMs = question.latencyMs
      calls = { sample: new Uint8Array(question.rows), grade: new Uint8Array(question.rows) }
      movedAt = new Float64Array(question.rows)
      counts = { begun: 0, answered: 0, rows: 0, strays: 0 }
      return null
    case 'allow': {
      allowed = question.rows
      const released = held
      held = []
      for (const reply of released) reply()
      return null
    }
    case 'counts':
      return { ...counts, cpuMicros: cpuMicros() } satisfies CallCounts
    case 'moved': {
      const since = sharedNow() - question.withinMs
      return [...movedAt.keys()].filter((row) => (movedAt[row] ?? 0) > since)
    }
    case 'calls':
      return calls
    case 'bodies':
      return bodies
  }
})

function cpuMicros(): number {
  const { user, system } = process.cpuUsage()
  return user + system
}
