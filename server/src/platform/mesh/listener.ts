import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { Fault } from '#platform/errors/fault.ts'
import type { Log } from '#platform/telemetry/log.ts'
import type { MeshCommands } from './command.ts'
import { frame, readFrame, writeLines } from './frames.ts'
import { SignatureCheck } from './signature.ts'

export interface MeshListenerOptions {
  readonly commands: MeshCommands
  readonly keys: readonly Buffer[]
  readonly log: Log
}

/** How the two sides tell each other what is wrong: a fault keeps its code, anything else is only that it failed. */
export interface MeshFailure {
  readonly code: string | null
  readonly message: string
  readonly param: string | null
  /** Missing from a process of an earlier version. */
  readonly retryAfterMs?: number | undefined
}

const pathPrefix = '/mesh/'
const headMs = 10_000

/** Takes signed requests of other processes of the deployment. */
export class MeshListener {
  readonly #server: Server
  readonly #options: MeshListenerOptions
  readonly #check: SignatureCheck

  constructor(options: MeshListenerOptions) {
    this.#options = options
    this.#check = new SignatureCheck(options.keys)
    this.#server = createServer({ headersTimeout: headMs, requestTimeout: 0 }, (request, response) => {
      this.#answer(request, response).catch((err: unknown) => {
        options.log.warn({ err }, 'a request of the mesh was not answered')
        response.destroy()
      })
    })
  }

  async listen(host: string, port: number): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject)
      this.#server.listen({ host, port }, () => resolve())
    })
    return (this.#server.address() as AddressInfo).port
  }

  async close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()))
    this.#server.closeAllConnections()
    await closed
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const name = (request.url ?? '').startsWith(pathPrefix) ? (request.url ?? '').slice(pathPrefix.length) : ''
    const command = this.#options.commands.get(name)
    if (request.method !== 'POST' || command === undefined) return refuse(response, 404)
    const input = await readFrame(request).catch(() => null)
    if (input === null || !this.#check.accepts(name, input, signedOf(request))) return refuse(response, 401)
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    try {
      const answer = await command({ input: JSON.parse(input.toString()), body: request, signal: gone.signal })
      response.writeHead(200, { 'content-type': 'application/octet-stream' })
      response.write(frame(JSON.stringify({ value: answer.value ?? null })))
      const rest = answer.events === undefined ? answer.bytes : writeLines(answer.events)
      if (rest === undefined) response.end()
      else await pipeline(Readable.from(rest, { objectMode: false, highWaterMark: 64 * 1024 }), response)
    } catch (error) {
      if (response.headersSent) {
        // The reader sees a stream that breaks off, and asks again.
        this.#options.log.warn({ err: error, command: name }, 'a command of the mesh broke off')
        response.destroy()
        return
      }
      if (!(error instanceof Fault)) this.#options.log.error({ err: error, command: name }, 'a mesh command failed')
      response.writeHead(200, { 'content-type': 'application/octet-stream' })
      response.end(frame(JSON.stringify({ failure: failureOf(error) })))
    } finally {
      request.resume()
    }
  }
}

function refuse(response: ServerResponse, status: number): void {
  response.writeHead(status, { connection: 'close' })
  response.end()
}

function signedOf(request: IncomingMessage) {
  const [time = '', nonce = '', signature = ''] = String(request.headers['switchyard-mesh'] ?? '').split(',')
  return { time: Number(time), nonce, signature }
}

export function failureOf(error: unknown): MeshFailure {
  if (error instanceof Fault) {
    const { code, message, param, retryAfterMs } = error
    return { code, message, param, retryAfterMs }
  }
  return { code: null, message: 'the owner failed to carry it out', param: null }
}
