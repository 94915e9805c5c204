import { readdirSync, readFileSync } from 'node:fs'
import type { SandboxFleet } from '../sandbox/sandbox-fleet.ts'
import { insideFolder } from './world.ts'

const requestMs = 600_000
const commandMs = 300_000

export interface Printed {
  readonly stdout: string
  readonly stderr: string
  readonly outcome: { readonly type: string; readonly exit_code?: number }
}

interface ResponseBody {
  readonly status: string
  readonly output: readonly { readonly type: string; readonly output?: readonly Printed[] }[]
}

/** One request to the API of the product. */
export async function ask<T>(fleet: SandboxFleet, method: string, path: string, body?: unknown): Promise<T> {
  const { projectKey, adminKey } = fleet.stack.seeded
  const form = body instanceof FormData
  const reply = await fetch(`http://127.0.0.1:${fleet.stack.httpPort}/v1${path}`, {
    method,
    headers: {
      authorization: `Bearer ${path.startsWith('/organization') ? adminKey : projectKey}`,
      ...(form || body === undefined ? {} : { 'content-type': 'application/json' }),
    },
    signal: AbortSignal.timeout(requestMs),
    ...(body === undefined ? {} : { body: form ? body : JSON.stringify(body) }),
  })
  const text = await reply.text()
  if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${text}`)
  return JSON.parse(text) as T
}

export async function allowDomains(fleet: SandboxFleet, domains: readonly string[]): Promise<void> {
  const body = { type: 'allowlist', allowed_domains: domains }
  await ask(fleet, 'POST', '/organization/container_network_policy', body)
}

/** A container made by the API. What runs in it is what a model asked for, in a response. */
export class Attacker {
  readonly id: string
  readonly #fleet: SandboxFleet

  private constructor(fleet: SandboxFleet, id: string) {
    this.#fleet = fleet
    this.id = id
  }

  static async create(fleet: SandboxFleet, fields: Readonly<Record<string, unknown>>): Promise<Attacker> {
    const { id } = await ask<{ id: string }>(fleet, 'POST', '/containers', { name: 'escape', ...fields })
    return new Attacker(fleet, id)
  }

  /** Brings the programs, through the API as well. */
  async bringPrograms(folder = insideFolder): Promise<void> {
    const files = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile())
    for (const { name } of files) {
      const form = new FormData()
      form.append('file', new Blob([new Uint8Array(readFileSync(new URL(name, folder)))]), name)
      await ask(this.#fleet, 'POST', `/containers/${this.id}/files`, form)
    }
  }

  async run(command: string): Promise<Printed> {
    const call = { name: 'shell', arguments: { commands: [command], timeout_ms: commandMs } }
    this.#fleet.double.queue({ calls: [call] }, 'Done.')
    const { status, output } = await ask<ResponseBody>(this.#fleet, 'POST', '/responses', {
      model: 'double-chat',
      input: 'Get out.',
      tools: [{ type: 'shell', environment: { type: 'container_reference', container_id: this.id } }],
    })
    const printed = output.find(({ type }) => type === 'shell_call_output')?.output?.[0]
    if (status !== 'completed' || printed === undefined) throw new Error(`${status}: ${JSON.stringify(output)}`)
    return printed
  }
}
