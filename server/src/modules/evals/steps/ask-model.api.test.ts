import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { EvalRun } from '@switchyard/contracts/evals/runs.ts'
import { createResponse } from '@switchyard/contracts/responses/operations.ts'
import { sql } from 'kysely'
import { evalsKit, ticket } from '../testing/evals-kit.ts'

/** A row that takes two model calls: what it holds is summed up first. */
const messages = [{ role: 'user', content: 'Hello' }, { type: 'compaction_trigger' }]
const rows = [{ item: { ticket: '', label: 'Hardware', messages } }]
const asking = { input_messages: { type: 'item_reference', item_reference: 'item.messages' } }

const sums = ({ per_model_usage: usage }: EvalRun) =>
  usage?.map((one) => [one.invocation_count, one.prompt_tokens, one.completion_tokens])

test('a run shows what it is charged for', async (t) => {
  const kit = await evalsKit(t)
  const { double } = kit.app
  const { id: evalId } = await kit.newEval()
  const charged = async () => {
    const { rows: found } = await sql<{ calls: number; input: number; output: number }>`
      select count(*)::int as calls, sum(input_tokens)::int as input, sum(output_tokens)::int as output
      from limits.usage where project_id = ${kit.app.project.id}`.execute(kit.app.db.kysely)
    return [found[0]?.calls, found[0]?.input, found[0]?.output]
  }
  const isSummary = (body: unknown) => !JSON.stringify(body).includes('Summary of the conversation so far')
  const summary = { text: 'They said hello.', usage: { input: 20, output: 5 } }

  await t.test('also by a row that was turned away half-way, and began again', async () => {
    let refused = 0
    double.decide((body) => {
      if (isSummary(body)) return summary
      // As often as a call is tried again by itself, and once more.
      refused += 1
      return refused <= 3 ? { status: 503 } : { text: 'Hardware', usage: { input: 30, output: 1 } }
    })
    const run = await kit.ended(await kit.start(evalId, rows, asking))
    assert.deepEqual([run.status, run.result_counts.passed, refused], ['completed', 1, 4])
    assert.deepEqual(sums(run), [[3, 70, 11]])
    assert.deepEqual(await charged(), [3, 70, 11])
  })

  await t.test('also by a row that fails half-way', async () => {
    double.decide((body) => (isSummary(body) ? summary : { status: 400 }))
    const run = await kit.ended(await kit.start(evalId, rows, asking))
    assert.deepEqual([run.status, run.result_counts.errored], ['completed', 1])
    assert.deepEqual(sums(run), [[1, 20, 5]])
    assert.deepEqual(await charged(), [4, 90, 16])
  })
})

test('a run of responses is sampled with its seed, which the Responses API itself does not have', async (t) => {
  const kit = await evalsKit(t)
  const { app } = kit
  app.double.decide(() => 'Hardware')
  const { id: evalId } = await kit.newEval()
  const run = await kit.ended(await kit.start(evalId, [ticket(0)], { sampling_params: { seed: 7 } }))
  assert.ok(run.data_source.type === 'responses')
  assert.deepEqual([run.result_counts.passed, run.data_source.sampling_params], [1, { seed: 7 }])
  assert.match(JSON.stringify(app.double.requests.at(-1)?.body), /"seed":7\b/)
  const [item] = await kit.items(run)
  assert.equal(item?.sample.seed, 7)

  const body = { model: 'double-chat', input: 'Hello', seed: 7 }
  const { status, error } = await app.call(createResponse, { body })
  assert.deepEqual([status, error?.code, error?.param], [400, 'unknown_parameter', 'seed'])
})
