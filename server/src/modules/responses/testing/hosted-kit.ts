import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { ErrorBody } from '@switchyard/contracts/errors.ts'
import type { OutputItem } from '@switchyard/contracts/responses/items.ts'
import { createResponse } from '@switchyard/contracts/responses/operations.ts'
import type { Response } from '@switchyard/contracts/responses/response.ts'
import { sql } from 'kysely'
import { sandboxApp, type Runtime, type SandboxApp } from '#modules/containers/testing/sandbox-app.ts'
import { createEngineApi } from '#platform/docker/engine-api.ts'
import type { CallInput, CallReply } from '../../../../test/call-operation.ts'

type Body = Record<string, unknown>
export type ShellCallOf = Extract<OutputItem, { type: 'shell_call' }>
export type ShellOutputOf = Extract<OutputItem, { type: 'shell_call_output' }>

export const auto = (more: Body = {}) => [{ type: 'shell', environment: { type: 'container_auto', ...more } }]
export const reference = (container_id: string) => [
  { type: 'shell', environment: { type: 'container_reference', container_id } },
]

/** An answer of the model that asks for these commands. */
export const shellCall = (commands: readonly string[], more: Body = {}) => ({
  calls: [{ name: 'shell', arguments: { commands, ...more } }],
})

export interface HostedKit {
  readonly app: SandboxApp
  /** A response of a model with a hosted shell; anything but 200 fails the test. */
  create(body: Body, input?: CallInput): Promise<Response>
  ask(body: Body, input?: CallInput): Promise<CallReply<Response> & { error: ErrorBody['error'] }>
  refusal(body: Body): Promise<[number, string | null, string | null]>
  /** What the provider was told last, as text. */
  told(): string
  /** Containers of this host in the engine. */
  machines(): Promise<number>
  /** Where a text stands in the database. */
  tablesWith(text: string): Promise<string[]>
}

export async function hostedKit(
  t: TestContext,
  runtime: Runtime,
  settings: Record<string, string> = {},
): Promise<HostedKit> {
  const app = await sandboxApp(t, { runtime, settings: { SWITCHYARD_SANDBOX_POOL: '0', ...settings } })
  const ask = (body: Body, input: CallInput = {}) =>
    app.call(createResponse, { body: { model: 'double-chat', input: 'Go.', tools: auto(), ...body }, ...input })
  return {
    app,
    ask,
    async create(body, input) {
      const reply = await ask(body, input)
      assert.equal(reply.status, 200, reply.text)
      return reply.body
    },
    async refusal(body) {
      const { status, error } = await ask(body)
      return [status, error?.code ?? null, error?.param ?? null]
    },
    told: () => JSON.stringify(app.double.requests.at(-1)?.body),
    async machines() {
      const host = (await readFile(join(app.dir, 'host-id'), 'utf8')).trim()
      return (await createEngineApi(app.socket).list(`switchyard.host=${host}`)).length
    },
    tablesWith: (text) => tablesWith(app, text),
  }
}

async function tablesWith(app: SandboxApp, text: string): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`select format('%I.%I', schemaname, tablename) as name from pg_tables
    where schemaname not in ('pg_catalog', 'information_schema')`.execute(app.db.kysely)
  const found: string[] = []
  for (const { name } of rows) {
    const hits =
      await sql`select 1 from ${sql.raw(name)} t where position(${text} in to_jsonb(t)::text) > 0 limit 1`.execute(
        app.db.kysely,
      )
    if (hits.rows.length > 0) found.push(name)
  }
  return found
}

export function callsIn(output: readonly OutputItem[]): ShellCallOf[] {
  return output.filter((item) => item.type === 'shell_call')
}

export function outputsIn(output: readonly OutputItem[]): ShellOutputOf[] {
  return output.filter((item) => item.type === 'shell_call_output')
}

/** The container of the first shell call. */
export function containerIn(output: readonly OutputItem[]): string {
  const environment = callsIn(output)[0]?.environment
  assert.ok(environment?.type === 'container_reference', JSON.stringify(output))
  return environment.container_id
}
