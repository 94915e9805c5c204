import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import type { TestContext } from 'node:test'
import { createEval, type Eval } from '@switchyard/contracts/evals/evals.ts'
import { listOutputItems, type OutputItem } from '@switchyard/contracts/evals/output-items.ts'
import { createEvalRun, retrieveEvalRun, type EvalRun } from '@switchyard/contracts/evals/runs.ts'
import { newFile } from '#modules/files/testing/files-kit.ts'
import { sql } from 'kysely'
import { becomesTrue } from '../../../../../dev/engines/wait-until.ts'
import { freePort } from '../../../../../dev/engines/free-port.ts'
import { testApp, type TestApp, type TestProject } from '../../../../test/test-app.ts'

export interface EvalsKit {
  readonly app: TestApp
  /** An eval of tickets and their labels, judged by an exact match unless it is given criteria. */
  newEval(more?: object): Promise<Eval>
  /** The id of a file of test data: rows as JSON, or lines as they are. */
  upload(rows: readonly (object | string)[]): Promise<string>
  /** A run of a model over rows, in a file of their own. */
  start(evalId: string, rows: readonly (object | string)[], more?: object): Promise<EvalRun>
  create(evalId: string, body: object): Promise<EvalRun>
  read(run: Pick<EvalRun, 'id' | 'eval_id'>): Promise<EvalRun>
  /** Waits until it has ended. */
  ended(run: Pick<EvalRun, 'id' | 'eval_id'>): Promise<EvalRun>
  items(run: Pick<EvalRun, 'id' | 'eval_id'>, query?: object): Promise<OutputItem[]>
  /** The events that webhooks would carry of a run. */
  news(id: string): Promise<string[]>
}

const boundMs = 30_000
const over: readonly string[] = ['completed', 'failed', 'canceled']

export const ticketEval = {
  name: 'Tickets',
  data_source_config: {
    type: 'custom',
    item_schema: {
      type: 'object',
      properties: { ticket: { type: 'string' }, label: { type: 'string' } },
      required: ['ticket', 'label'],
    },
    include_sample_schema: true,
  },
  testing_criteria: [
    {
      type: 'string_check',
      name: 'label',
      input: '{{ sample.output_text }}',
      operation: 'eq',
      reference: '{{ item.label }}',
    },
  ],
}

export const ticket = (at: number, label = 'Hardware') => ({ item: { ticket: `Ticket ${at}`, label } })

/** What a run asks a model with, over the rows of a file. */
export const sampled = (fileId: string, more: object = {}) => ({
  type: 'responses',
  model: 'double-chat',
  input_messages: {
    type: 'template',
    template: [
      { role: 'developer', content: 'Answer with the label.' },
      { role: 'user', content: '{{ item.ticket }}' },
    ],
  },
  source: { type: 'file_id', id: fileId },
  ...more,
})

/** One app with its worker, on names and a port that no other test file has. */
export async function evalsKit(t: TestContext, settings: Record<string, string> = {}): Promise<EvalsKit> {
  const own = {
    SWITCHYARD_WORKER_PORT: String(await freePort()),
    SWITCHYARD_DURABLE_PREFIX: `evals-${randomBytes(4).toString('hex')}`,
    SWITCHYARD_DURABLE_SWEEP_MS: '500',
  }
  return kitOf(await testApp(t, { ...own, ...settings }, ['api', 'worker']))
}

/** As seen by one project. */
export function kitOf(app: TestApp, { id: projectId, key }: TestProject = app.project): EvalsKit {
  const kit: EvalsKit = {
    app,
    async newEval(more = {}) {
      const reply = await app.call(createEval, { key, body: { ...ticketEval, ...more } })
      assert.equal(reply.status, 200, reply.text)
      return reply.body
    },
    async upload(rows) {
      const lines = rows.map((row) => (typeof row === 'string' ? row : JSON.stringify(row)))
      const options = { fields: { purpose: 'evals' }, filename: 'rows.jsonl', key }
      return (await newFile(app, lines.join('\n'), options)).id
    },
    start: async (evalId, rows, more = {}) =>
      await kit.create(evalId, { name: 'run', data_source: sampled(await kit.upload(rows), more) }),
    async create(evalId, body) {
      const reply = await app.call(createEvalRun, { key, params: { eval_id: evalId }, body })
      assert.equal(reply.status, 200, reply.text)
      return reply.body
    },
    async read({ eval_id: evalId, id }) {
      const reply = await app.call(retrieveEvalRun, { key, params: { eval_id: evalId, run_id: id } })
      assert.equal(reply.status, 200, reply.text)
      return reply.body
    },
    async ended(run) {
      const isOver = async () => over.includes((await kit.read(run)).status)
      assert.ok(await becomesTrue(isOver, boundMs), `${run.id} ends: ${JSON.stringify(await kit.read(run))}`)
      return await kit.read(run)
    },
    async items({ eval_id: evalId, id }, query = {}) {
      const params = { eval_id: evalId, run_id: id }
      const reply = await app.call(listOutputItems, { key, params, query: { limit: '100', ...query } })
      assert.equal(reply.status, 200, reply.text)
      return reply.body.data
    },
    async news(id) {
      const { rows } = await sql<{ body: string }>`
        select body from webhooks.event where project_id = ${projectId} order by id`.execute(app.db.kysely)
      const told = rows.map(({ body }) => JSON.parse(body) as { type: string; data: { id: string } })
      return told.filter(({ data }) => data.id === id).map(({ type }) => type)
    },
  }
  return kit
}
