import { createContainer, deleteContainer } from '@switchyard/contracts/containers.ts'
import { createResponse } from '@switchyard/contracts/responses/operations.ts'
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import type { ShellEntries } from '../steps/run-shell.ts'
import type { SandboxApp } from './sandbox-app.ts'

export type Entry = ShellEntries['entries'][number]

const timeoutMs = 60_000

/** A container made through the API, and the door through which responses run their commands in it. */
export class HostedContainer {
  readonly id: string
  readonly #app: SandboxApp

  constructor(app: SandboxApp, id: string) {
    this.#app = app
    this.id = id
  }

  static async create(app: SandboxApp, fields: Readonly<Record<string, unknown>> = {}): Promise<HostedContainer> {
    const { status, body } = await app.call(createContainer, { body: { name: 'test', ...fields } })
    assert.equal(status, 200, JSON.stringify(body))
    return new HostedContainer(app, body.id)
  }

  /** One call of the shell. The same `callId` again asks for the same call. */
  async run(
    commands: readonly string[],
    options: {
      readonly callId?: string
      readonly responseId?: string
      readonly timeoutMs?: number
      readonly signal?: AbortSignal
      readonly onOutput?: (index: number, printed: { stdout?: string; stderr?: string }) => void
    } = {},
  ): Promise<ShellEntries> {
    return await this.#app.wired.containers.shell.run(
      {
        containerId: this.id,
        responseId: options.responseId ?? 'resp_test',
        callId: options.callId ?? `call_${randomUUID()}`,
        commands,
        timeoutMs: options.timeoutMs ?? timeoutMs,
      },
      {
        signal: options.signal ?? new AbortController().signal,
        endOnAbort: false,
        onOutput: options.onOutput ?? (() => undefined),
      },
    )
  }

  /** The one entry of a call with one command. */
  async sh(command: string, options: Parameters<HostedContainer['run']>[1] = {}): Promise<Entry> {
    const { entries } = await this.run([command], options)
    const entry = entries[0]
    assert.ok(entry !== undefined, 'a command has an entry')
    return entry
  }

  async remove(): Promise<void> {
    const { status } = await this.#app.call(deleteContainer, { params: { container_id: this.id } })
    assert.equal(status, 200)
  }

  async cancel(responseId: string): Promise<void> {
    await this.#app.wired.containers.shell.cancel(this.id, responseId)
  }
}

export interface ScriptedCall {
  readonly commands: readonly string[]
  readonly timeout_ms?: number
}

/** One response whose model makes these shell calls in turn; gives what the public reply says of each. */
export async function respondWithShell(
  app: SandboxApp,
  calls: readonly ScriptedCall[],
  environment: Readonly<Record<string, unknown>> = { type: 'container_auto' },
): Promise<Entry[][]> {
  for (const call of calls) app.double.queue({ calls: [{ name: 'shell', arguments: { ...call } }] })
  app.double.queue('Done.')
  const { status, body } = await app.call(createResponse, {
    body: { model: 'double-chat', tools: [{ type: 'shell', environment }], input: 'go' },
  })
  assert.equal(status, 200, JSON.stringify(body))
  assert.equal(body.status, 'completed', JSON.stringify(body))
  return body.output.flatMap((item) => (item.type === 'shell_call_output' ? [item.output as Entry[]] : []))
}
