/**
 * An agent's loop of turns, each continuing the one before: over one WebSocket, which keeps the context, against the same
 * over HTTP, streamed, with `previous_response_id`. Who goes first changes every round.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { Agent, request, type IncomingMessage } from 'node:http'
import { WebSocket } from 'ws'
import type { BenchOptions } from './bench-stack.ts'
import { countStatements } from './count-statements.ts'
import { median, type Figure } from './figure.ts'
import { cpuSeconds } from './process-cpu.ts'
import { benchModel, withProvider, type ResponsesBench } from './responses-stack.ts'

export interface ResponsesSocketSize extends BenchOptions {
  readonly rounds: number
  /** Loops of a side in a round. */
  readonly loops: number
}

const turns = 50
const events = 20
const input = 'And what happened on the line after that? '.repeat(5)

interface Side {
  readonly name: 'socket' | 'http'
  /** Runs one loop. */
  loop(): Promise<void>
}

interface Measured {
  readonly wallMs: number
  readonly cpuMicros: number
}

type Round = Readonly<Record<Side['name'], Measured>>

export async function benchResponsesSocket(size: ResponsesSocketSize, say: (line: string) => void): Promise<Figure[]> {
  return await withProvider({ ...size, events }, async (bench) => {
    const sides = [overSocket(bench), overHttp(bench)] as const
    for (const side of sides) await side.loop()
    const rounds: Round[] = []
    for (let count = 0; count < size.rounds; count += 1) {
      const measured: Partial<Record<Side['name'], Measured>> = {}
      for (const side of count % 2 === 0 ? sides : sides.toReversed()) {
        measured[side.name] = await measure(bench, side, size.loops)
      }
      const round = measured as Round
      rounds.push(round)
      say(`responses-socket round ${count + 1}: socket ${line(round.socket)}; http ${line(round.http)}`)
    }
    const statements = { socket: await statementsOf(bench, sides[0]), http: await statementsOf(bench, sides[1]) }
    return figuresOf(rounds, statements)
  })
}

async function measure({ stack }: ResponsesBench, side: Side, loops: number): Promise<Measured> {
  const pid = stack.nodes[0]?.process.pid ?? 0
  const cpuBefore = cpuSeconds(pid)
  const began = performance.now()
  for (let count = 0; count < loops; count += 1) await side.loop()
  const wallMs = (performance.now() - began) / (loops * turns)
  return { wallMs, cpuMicros: ((cpuSeconds(pid) - cpuBefore) * 1e6) / (loops * turns) }
}

async function statementsOf({ postgresUrl }: ResponsesBench, side: Side): Promise<number> {
  return (await countStatements(postgresUrl, () => side.loop())) / turns
}

const bodyOf = (previous: string | null) => ({ model: benchModel, input, previous_response_id: previous })

function overSocket({ stack }: ResponsesBench): Side {
  return {
    name: 'socket',
    async loop() {
      const headers = { authorization: `Bearer ${stack.seeded.projectKey}` }
      const socket = new WebSocket(`ws://127.0.0.1:${stack.httpPort}/v1/responses`, {
        headers,
        perMessageDeflate: false,
      })
      await once(socket, 'open')
      let previous: string | null = null
      for (let turn = 0; turn < turns; turn += 1) {
        const ended = lastEvent(socket)
        socket.send(JSON.stringify({ type: 'response.create', ...bodyOf(previous) }))
        previous = idOf(await ended)
      }
      socket.close()
      await once(socket, 'close')
    },
  }
}

function lastEvent(socket: WebSocket): Promise<string> {
  return new Promise((resolve, reject) => {
    const gone = () => reject(new Error('the socket closed'))
    const take = (data: Buffer) => {
      const text = data.toString('utf8')
      if (!/^\{"type":"(response\.(completed|failed|incomplete)|error)"/.test(text)) return
      socket.off('message', take).off('close', gone)
      resolve(text)
    }
    socket.on('message', take).once('close', gone)
  })
}

function overHttp({ stack }: ResponsesBench): Side {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  return {
    name: 'http',
    async loop() {
      let previous: string | null = null
      for (let turn = 0; turn < turns; turn += 1) {
        const post = request({
          agent,
          port: stack.httpPort,
          host: '127.0.0.1',
          method: 'POST',
          path: '/v1/responses',
          headers: { authorization: `Bearer ${stack.seeded.projectKey}`, 'content-type': 'application/json' },
        })
        post.end(JSON.stringify({ ...bodyOf(previous), stream: true }))
        const [reply] = (await once(post, 'response')) as [IncomingMessage]
        const text = Buffer.concat((await reply.toArray()) as Buffer[]).toString('utf8')
        previous = idOf(text.slice(text.lastIndexOf('data: ') + 'data: '.length))
      }
      agent.destroy()
    },
  }
}

function idOf(text: string): string {
  const event = JSON.parse(text) as { type: string; response?: { id: string } }
  assert.equal(event.type, 'response.completed', text)
  return event.response?.id ?? ''
}

const line = ({ wallMs, cpuMicros }: Measured) => `${wallMs.toFixed(2)} ms cpu ${cpuMicros.toFixed(0)} us a turn`

function figuresOf(rounds: readonly Round[], statements: Readonly<Record<Side['name'], number>>): Figure[] {
  const figure = (name: string, unit: string, digits: number, pick: (side: Measured) => number): Figure => {
    const side = (which: Side['name']) => median(rounds.map((round) => pick(round[which]))).toFixed(digits)
    const ratio = median(rounds.map(({ socket, http }) => pick(socket) / pick(http)))
    return {
      name: `responses-socket ${name}`,
      ratio,
      target: null,
      measured: `${side('socket')} : ${side('http')} ${unit}`,
    }
  }
  return [
    figure('time per turn', 'ms', 2, ({ wallMs }) => wallMs),
    figure('server CPU per turn', 'us', 0, ({ cpuMicros }) => cpuMicros),
    {
      name: 'responses-socket statements per turn',
      ratio: statements.socket / statements.http,
      target: { atMost: 0.8 },
      measured: `${statements.socket.toFixed(1)} : ${statements.http.toFixed(1)} statements`,
    },
  ]
}
