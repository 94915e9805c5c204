import { faults, type FaultCode } from '@switchyard/contracts/errors.ts'
import { randomBytes } from 'node:crypto'
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http'
import { Agent as TlsAgent, request as httpsRequest } from 'node:https'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Fault } from '#platform/errors/fault.ts'
import { MeshUnreachable, type MeshCommands, type MeshOwner } from './command.ts'
import { frame, readFrame, readLines } from './frames.ts'
import type { MeshFailure } from './listener.ts'
import { sign } from './signature.ts'

export interface Asking {
  readonly input: unknown
  /** Bytes that go along. */
  readonly body?: AsyncIterable<Uint8Array>
  readonly signal?: AbortSignal
}

/** What the owner answered. Exactly one of the two streams has to be read to its end, or left to the signal. */
export interface Asked {
  readonly value: unknown
  readonly bytes: AsyncIterable<Uint8Array>
  events(): AsyncIterable<unknown>
}

/** How a process reaches what another one owns. Its own things it asks without a wire. */
export interface Mesh {
  ask(owner: MeshOwner, command: string, asking: Asking): Promise<Asked>
  /** From now on this process answers for this owner. */
  serve(ownerId: string, commands: MeshCommands): void
  close(): void
}

/** An owner behind something that ends TLS is asked by https. */
interface Agents {
  readonly http: Agent
  readonly https: TlsAgent
}

const connectionsMax = 256
const nonceBytes = 12

export function createMesh(key: Buffer): Mesh {
  const agents: Agents = {
    http: new Agent({ keepAlive: true, maxSockets: connectionsMax }),
    https: new TlsAgent({ keepAlive: true, maxSockets: connectionsMax }),
  }
  const own = new Map<string, MeshCommands>()
  return {
    serve: (ownerId, commands) => void own.set(ownerId, commands),
    close() {
      agents.http.destroy()
      agents.https.destroy()
    },
    async ask(owner, command, asking) {
      const local = own.get(owner.id)
      return local === undefined
        ? await askOver(agents, key, owner, command, asking)
        : await askHere(local, command, asking)
    },
  }
}

async function askHere(commands: MeshCommands, name: string, { input, body, signal }: Asking): Promise<Asked> {
  const command = commands.get(name)
  if (command === undefined) throw new Error(`no such mesh command: ${name}`)
  const answer = await command({
    input,
    body: Readable.from(body ?? []),
    signal: signal ?? new AbortController().signal,
  })
  return {
    value: answer.value,
    bytes: answer.bytes ?? empty(),
    events: () => (answer.events === undefined ? empty<unknown>() : asOverTheWire(answer.events)),
  }
}

/** What fails in the middle is told as it would be by a wire that broke, so that both are asked again alike. */
async function* asOverTheWire(events: AsyncIterable<unknown>): AsyncGenerator<unknown> {
  try {
    yield* events
  } catch (error) {
    if (error instanceof Fault) throw error
    throw new MeshUnreachable('the owner broke off', { cause: error })
  }
}

async function* empty<T>(): AsyncGenerator<T> {}

async function askOver(agents: Agents, key: Buffer, owner: MeshOwner, command: string, asking: Asking): Promise<Asked> {
  const json = Buffer.from(JSON.stringify(asking.input ?? null))
  const time = Date.now()
  const nonce = randomBytes(nonceBytes).toString('hex')
  const url = new URL(`/mesh/${command}`, owner.url)
  const secure = url.protocol === 'https:'
  const sent = (secure ? httpsRequest : httpRequest)(url, {
    agent: secure ? agents.https : agents.http,
    method: 'POST',
    headers: { 'switchyard-mesh': [time, nonce, sign(key, command, json, time, nonce)].join(',') },
    ...(asking.signal === undefined ? {} : { signal: asking.signal }),
  })
  const replied = new Promise<IncomingMessage>((resolve, reject) => {
    sent.once('response', resolve)
    sent.once('error', reject)
  })
  const source = asking.body
  const sending = pipeline(async function* () {
    yield frame(json.toString())
    if (source !== undefined) yield* source
  }, sent)
  // The reply tells more than the broken pipe does.
  sending.catch(() => undefined)
  try {
    const reply = await replied
    if (reply.statusCode !== 200) throw new Error(`the owner answered ${reply.statusCode}`)
    const head = JSON.parse((await readFrame(reply)).toString()) as { value?: unknown; failure?: MeshFailure }
    if (head.failure !== undefined) {
      reply.resume()
      throw faultOf(head.failure)
    }
    return { value: head.value, bytes: broken(owner, reply), events: () => readLines(broken(owner, reply)) }
  } catch (error) {
    if (error instanceof Fault || asking.signal?.aborted === true) throw error
    throw new MeshUnreachable(`the owner ${owner.id} could not be asked`, { cause: error })
  }
}

/** A stream that breaks off is the owner going away, whatever the socket calls it. */
async function* broken(owner: MeshOwner, reply: IncomingMessage): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of reply) yield chunk as Buffer
  } catch (error) {
    throw new MeshUnreachable(`the owner ${owner.id} went away`, { cause: error })
  }
}

/** What the owner refused, as if it had been refused here. */
export function faultOf({ code, message, param, retryAfterMs }: MeshFailure): Error {
  if (code === null || !(code in faults)) return new Error(message)
  return new Fault(code as FaultCode, message, {
    param: param ?? undefined,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  })
}
