import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createChatCompletion } from '@switchyard/contracts/chat-completions.ts'
import { sql } from 'kysely'
import { evalsKit, sampled, ticket } from '../testing/evals-kit.ts'

const judge = { role: 'user', content: 'Judge {{ sample.output_text }} against {{ item.label }}' }
const score = { type: 'score_model', name: 'score', model: 'double-chat', input: [judge], range: [0, 10] }
const label = {
  type: 'label_model',
  name: 'label',
  model: 'double-chat',
  input: [judge],
  labels: ['good', 'bad'],
  passing_labels: ['good'],
}
const similar = {
  type: 'text_similarity',
  name: 'similar',
  input: '{{ sample.output_text }}',
  reference: '{{ item.label }}',
  evaluation_metric: 'fuzzy_match',
  pass_threshold: 0.8,
}
const exact = {
  type: 'string_check',
  name: 'exact',
  input: '{{sample.output_text}}',
  operation: 'ilike',
  reference: '{{item.label}}',
}

test('runs of every kind', async (t) => {
  const kit = await evalsKit(t, { SWITCHYARD_EVALS_PATIENCE_MS: '1000', SWITCHYARD_EVALS_ROWS_MAX: '3' })
  const { double } = kit.app

  await t.test('models judge, and what they used is counted by model', async () => {
    double.decide((body) => {
      const asked = JSON.stringify(body)
      if (!asked.includes('Judge')) return 'Hardware'
      return asked.includes('"label"') ? '{"reasoning":"","result":"good"}' : '{"reasoning":"","result":4}'
    })
    const { id: evalId } = await kit.newEval({ testing_criteria: [score, label, similar, exact] })
    const run = await kit.ended(await kit.start(evalId, [ticket(0), ticket(1)], { type: 'completions' }))
    assert.deepEqual([run.status, run.result_counts], ['completed', { total: 2, errored: 0, failed: 2, passed: 0 }])
    assert.deepEqual(
      run.per_testing_criteria_results?.map(({ passed, failed }) => [passed, failed]),
      [
        [0, 2],
        [2, 0],
        [2, 0],
        [2, 0],
      ],
    )
    assert.equal(run.per_model_usage?.[0]?.invocation_count, 6)
    const [item] = await kit.items(run)
    assert.deepEqual(
      item?.results.map((result) => [result.type, result.passed, result.score]),
      [
        ['score_model', false, 4],
        ['label_model', true, 1],
        ['text_similarity', true, 1],
        ['string_check', true, 1],
      ],
    )
    assert.equal(item?.results[1]?.['label'], 'good')
    const { rows } = await sql<{ calls: number }>`
      select count(*)::int as calls from limits.usage where project_id = ${kit.app.project.id}`.execute(
      kit.app.db.kysely,
    )
    assert.equal(rows[0]?.calls, 6)
  })

  await t.test('a judge that cannot be read makes its row err and says what it said', async () => {
    double.decide((body) => (JSON.stringify(body).includes('Judge') ? 'I would say rather good' : 'Hardware'))
    const { id: evalId } = await kit.newEval({ testing_criteria: [score, exact] })
    const run = await kit.ended(await kit.start(evalId, [ticket(0)]))
    assert.deepEqual(run.result_counts, { total: 1, errored: 1, failed: 0, passed: 0 })
    assert.deepEqual(
      run.per_testing_criteria_results?.map(({ passed, failed }) => [passed, failed]),
      [
        [0, 0],
        [1, 0],
      ],
    )
    const [item] = await kit.items(run)
    assert.equal(item?.status, 'error')
    assert.match(item?.sample.error?.message ?? '', /^score: .*rather good/)
  })

  await t.test('rows that bring their samples are judged without a model', async () => {
    const asked = double.requests.length
    const { id: evalId } = await kit.newEval({ testing_criteria: [exact] })
    const content = [
      { item: { ticket: 'a', label: 'x' }, sample: { output_text: 'x', model: 'theirs' } },
      { item: { ticket: 'b', label: 'y' }, sample: { output_text: 'z' } },
      { item: { ticket: 'c', label: 'y' } },
    ]
    const source = { type: 'file_content', content }
    const run = await kit.ended(await kit.create(evalId, { data_source: { type: 'jsonl', source } }))
    assert.deepEqual(run.result_counts, { total: 3, errored: 1, failed: 1, passed: 1 })
    assert.deepEqual([run.model, run.per_model_usage], [null, []])
    const items = await kit.items(run)
    assert.deepEqual([items[0]?.sample.model, items[2]?.sample.error?.code], ['theirs', 'template_error'])
    assert.equal(double.requests.length, asked)
  })

  await t.test('more rows than a run may have end it, whatever its source', async () => {
    double.decide(() => 'Yes.')
    const body = { model: 'double-chat', messages: [{ role: 'user', content: 'Hello.' }], store: true }
    for (let at = 0; at < 4; at += 1) await kit.app.call(createChatCompletion, { body })
    const filed = await kit.start(
      (await kit.newEval()).id,
      [0, 1, 2, 3].map((at) => ticket(at)),
    )
    const logs = await kit.newEval({
      data_source_config: { type: 'logs' },
      testing_criteria: [{ ...exact, reference: 'yes' }],
    })
    const source = { type: 'stored_completions' }
    const stored = await kit.create(logs.id, { data_source: { type: 'completions', source } })
    for (const run of [filed, stored]) {
      const { status, error } = await kit.ended(run)
      assert.deepEqual([status, error?.code], ['failed', 'too_many_rows'])
    }
    const some = { type: 'completions', source: { ...source, limit: 3 } }
    assert.equal((await kit.ended(await kit.create(logs.id, { data_source: some }))).result_counts.passed, 3)
  })

  await t.test('an answer in JSON is read with its fields', async () => {
    double.decide(() => '{"kind":{"name":"Hardware"}}')
    const byField = { ...exact, input: '{{ sample.output_json.kind.name }}', operation: 'eq' }
    const { id: evalId } = await kit.newEval({ testing_criteria: [byField] })
    const run = await kit.ended(await kit.start(evalId, [ticket(0)]))
    assert.equal(run.result_counts.passed, 1)
  })

  await t.test('a provider that is away for too long ends the run, and it says so', async () => {
    double.decide(() => ({ status: 503 }))
    const { id: evalId } = await kit.newEval()
    const run = await kit.ended(await kit.start(evalId, [ticket(0), ticket(1)]))
    assert.deepEqual([run.status, run.error?.code], ['failed', 'provider_unavailable'])
    assert.deepEqual(await kit.news(run.id), ['eval.run.failed'])
  })

  await t.test(
    'one that is away for a moment is waited for, and nothing is asked twice that was answered',
    async () => {
      let refused = 0
      double.decide((body) => {
        const judging = JSON.stringify(body).includes('Judge')
        if (judging && (refused += 1) <= 2) return { status: 429 }
        return judging ? '{"reasoning":"","result":9}' : 'Hardware'
      })
      const before = double.requests.length
      const { id: evalId } = await kit.newEval({ testing_criteria: [score] })
      const run = await kit.ended(await kit.create(evalId, { data_source: sampled(await kit.upload([ticket(0)])) }))
      assert.deepEqual([run.status, run.result_counts.passed], ['completed', 1])
      const asked = double.requests.slice(before).map(({ body }) => JSON.stringify(body))
      assert.equal(asked.filter((one) => !one.includes('Judge')).length, 1)
    },
  )

  await t.test(
    'a row that the provider never takes errs by itself; the others pass, and the run completes',
    async () => {
      const refused = Promise.withResolvers<void>()
      double.decide(async (body) => {
        if (JSON.stringify(body).includes('Ticket 1')) {
          refused.resolve()
          return { status: 503 }
        }
        await refused.promise
        return 'Hardware'
      })
      const { id: evalId } = await kit.newEval()
      const run = await kit.ended(await kit.start(evalId, [ticket(0), ticket(1), ticket(2)]))
      assert.deepEqual([run.status, run.result_counts], ['completed', { total: 3, errored: 1, failed: 0, passed: 2 }])
      const [errored] = await kit.items(run, { status: 'error' })
      assert.equal(errored?.sample.error?.code, 'provider_unavailable')
      assert.match(errored?.sample.error?.message ?? '', /refused \d+ times, and other rows were answered/)
    },
  )
})
