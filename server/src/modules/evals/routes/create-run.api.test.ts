import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createEvalRun } from '@switchyard/contracts/evals/runs.ts'
import { newFile } from '#modules/files/testing/files-kit.ts'
import { evalsKit, sampled, ticket, ticketEval } from '../testing/evals-kit.ts'

test('runs are created', async (t) => {
  const kit = await evalsKit(t, { SWITCHYARD_PUBLIC_URL: 'https://switchyard.example' })
  const { app } = kit
  const { id: evalId } = await kit.newEval()
  const fileId = await kit.upload([ticket(0)])
  const refuse = async (body: object, of: string = evalId) => {
    const { status, body: reply } = await app.call(createEvalRun, { params: { eval_id: of }, body })
    const { code, param } = (reply as unknown as { error: { code: string; param: string | null } }).error
    return [status, code, param]
  }

  await t.test(
    'queued, with what they were asked for in one form (S1-2.8-s to S1-2.8-z, S1-2.8-af, S1-4.6-i, S1-4.6-j)',
    async () => {
      const run = await kit.create(evalId, { name: 'first', metadata: { by: 'me' }, data_source: sampled(fileId) })
      assert.match(run.id, /^evalrun_/)
      assert.ok(Number.isInteger(run.created_at))
      assert.deepEqual(run, {
        id: run.id,
        object: 'eval.run',
        eval_id: evalId,
        name: 'first',
        model: 'double-chat',
        report_url: `https://switchyard.example/dashboard/evals/${evalId}/runs/${run.id}`,
        status: 'queued',
        created_at: run.created_at,
        result_counts: { total: 0, errored: 0, failed: 0, passed: 0 },
        per_model_usage: null,
        per_testing_criteria_results: null,
        data_source: {
          type: 'responses',
          model: 'double-chat',
          input_messages: {
            type: 'template',
            template: [
              { type: 'message', role: 'developer', content: { type: 'input_text', text: 'Answer with the label.' } },
              { type: 'message', role: 'user', content: { type: 'input_text', text: '{{ item.ticket }}' } },
            ],
          },
          source: { type: 'file_id', id: fileId },
          sampling_params: null,
        },
        error: null,
        metadata: { by: 'me' },
      })
      await kit.ended(run)
    },
  )

  await t.test('only of an eval and a file that exist (S1-3-g)', async () => {
    const data_source = sampled(fileId)
    assert.deepEqual(await refuse({ data_source }, 'eval_none'), [404, 'not_found', 'eval_id'])
    const param = 'data_source.source.id'
    assert.deepEqual(await refuse({ data_source: sampled('file-none') }), [404, 'not_found', param])
    const foreign = await newFile(app, '{}', { fields: { purpose: 'evals' }, key: app.other.key })
    assert.deepEqual(await refuse({ data_source: sampled(foreign.id) }), [404, 'not_found', param])
    const other = await newFile(app, '{}', { fields: { purpose: 'batch' } })
    assert.deepEqual(await refuse({ data_source: sampled(other.id) }), [400, 'invalid_value', param])
  })

  await t.test('not with what could not run', async () => {
    const shell = (network_policy: object) => ({
      tools: [{ type: 'shell', environment: { type: 'container_auto', network_policy } }],
    })
    const secret = { domain: 'api.example', name: 'KEY', value: 'hush' }
    const policy = { type: 'allowlist', allowed_domains: ['api.example'], domain_secrets: [secret] }
    const cases: [object, unknown[]][] = [
      [{ model: 'no-such-model' }, [404, 'model_not_found', 'data_source.model']],
      [{ model: undefined }, [400, 'missing_required_parameter', 'data_source.model']],
      [
        { sampling_params: shell(policy) },
        [400, 'secrets_not_allowed', 'data_source.sampling_params.tools[0].environment.network_policy.domain_secrets'],
      ],
      [{ surprise: true }, [400, 'unknown_parameter', 'data_source.surprise']],
    ]
    for (const [more, expected] of cases) {
      assert.deepEqual(await refuse({ data_source: sampled(fileId, more) }), expected)
    }
    const { rows } = await app.db.kysely
      .selectFrom('evals.run' as never)
      .selectAll()
      .execute()
      .then((found) => ({ rows: JSON.stringify(found) }))
    assert.ok(!rows.includes('hush'), 'a secret is stored nowhere')
  })

  await t.test('not over logs that their eval is not about', async () => {
    const { id: logs } = await kit.newEval({
      data_source_config: { type: 'logs', metadata: { usecase: 'a', version: 2 } },
      testing_criteria: [{ ...ticketEval.testing_criteria[0], reference: 'yes' }],
    })
    for (const type of ['completions', 'responses']) {
      const over = (metadata: object) => {
        const source = { type: type === 'responses' ? type : 'stored_completions', metadata }
        return { data_source: { type, source } }
      }
      const refusal = [400, 'invalid_value', 'data_source.source.metadata']
      assert.deepEqual(await refuse(over({ usecase: 'b' }), logs), refusal)
      assert.deepEqual(await refuse(over({ version: '3' }), logs), refusal)
      await kit.create(logs, over({ usecase: 'a', version: '2', constructor: 'x' }))
    }
  })

  await t.test('not with a template that no row can fill', async () => {
    const { id: closed } = await kit.newEval({
      data_source_config: {
        type: 'custom',
        item_schema: { type: 'object', properties: { label: {} }, additionalProperties: false },
      },
      testing_criteria: [
        { type: 'string_check', name: 'c', input: 'a', operation: 'eq', reference: '{{ item.label }}' },
      ],
    })
    const param = 'data_source.input_messages.template[1].content'
    const [status, code, at] = await refuse({ data_source: sampled(fileId) }, closed)
    assert.deepEqual([status, code, String(at).startsWith(param)], [400, 'invalid_value', true])
  })
})
