import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import {
  createBatch,
  retrieveBatch,
  type Batch,
  type BatchEndpoint,
  type CreateBatch,
} from '@switchyard/contracts/batches.ts'
import { retrieveFileContent } from '@switchyard/contracts/files.ts'
import { newFile } from '#modules/files/testing/files-kit.ts'
import { sql } from 'kysely'
import { becomesTrue } from '../../../../../dev/engines/wait-until.ts'
import { freePort } from '../../../../../dev/engines/free-port.ts'
import { testApp, type TestApp } from '../../../../test/test-app.ts'
import { batchLine } from './batch-lines.ts'

/** A line of an output or error file. */
export interface FileLine {
  readonly id: string
  readonly custom_id: string
  readonly response: { status_code: number; request_id: string; body: Record<string, unknown> } | null
  readonly error: { code: string; message: string } | null
}

export interface BatchesKit {
  readonly app: TestApp
  /** A batch over these lines; anything but 200 fails the test. */
  create(lines: readonly object[], endpoint?: BatchEndpoint, more?: Partial<CreateBatch>): Promise<Batch>
  /** The same over one line for each text. */
  ask(texts: readonly string[], endpoint?: BatchEndpoint): Promise<Batch>
  read(id: string): Promise<Batch>
  /** Waits until it has ended. */
  ended(id: string): Promise<Batch>
  linesOf(fileId: string | undefined): Promise<FileLine[]>
  /** The events that webhooks would carry of a batch. */
  news(id: string): Promise<string[]>
}

const boundMs = 30_000
const over: readonly string[] = ['completed', 'failed', 'expired', 'cancelled']

/** One app with its worker, on names and a port that no other test file has. */
export async function batchesKit(t: TestContext, settings: Record<string, string> = {}): Promise<BatchesKit> {
  const own = {
    SWITCHYARD_WORKER_PORT: String(await freePort()),
    SWITCHYARD_DURABLE_PREFIX: `batches-${randomBytes(4).toString('hex')}`,
    SWITCHYARD_DURABLE_SWEEP_MS: '500',
  }
  const app = await testApp(t, { ...own, ...settings }, ['api', 'worker'])
  const kit: BatchesKit = {
    app,
    async create(lines, endpoint = '/v1/responses', more = {}) {
      const content = lines.map((line) => JSON.stringify(line)).join('\n')
      const file = await newFile(app, content, { fields: { purpose: 'batch' }, filename: 'lines.jsonl' })
      const body = { input_file_id: file.id, endpoint, completion_window: '24h', ...more }
      const reply = await app.call(createBatch, { body })
      assert.equal(reply.status, 200, reply.text)
      return reply.body
    },
    ask: (texts, endpoint = '/v1/responses') =>
      kit.create(
        texts.map((text, at) => batchLine(endpoint, `line-${at}`, text)),
        endpoint,
      ),
    async read(id) {
      const reply = await app.call(retrieveBatch, { params: { batch_id: id } })
      assert.equal(reply.status, 200, reply.text)
      return reply.body
    },
    async ended(id) {
      const isOver = async () => over.includes((await kit.read(id)).status)
      assert.ok(await becomesTrue(isOver, boundMs), `${id} ends: ${JSON.stringify(await kit.read(id))}`)
      return await kit.read(id)
    },
    async linesOf(fileId) {
      assert.ok(fileId !== undefined, 'there is a file')
      const { text } = await app.call(retrieveFileContent, { params: { file_id: fileId } })
      const lines = text.split('\n').slice(0, -1)
      return lines.map((line) => JSON.parse(line) as FileLine)
    },
    async news(id) {
      const { rows } = await sql<{ body: string }>`
        select body from webhooks.event where project_id = ${app.project.id} order by id`.execute(app.db.kysely)
      const told = rows.map(({ body }) => JSON.parse(body) as { type: string; data: { id: string } })
      return told.filter(({ data }) => data.id === id).map(({ type }) => type)
    },
  }
  return kit
}
