import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createEval } from '@switchyard/contracts/evals/evals.ts'
import { runGrader, validateGrader } from '@switchyard/contracts/evals/grader-runs.ts'
import { createEvalRun } from '@switchyard/contracts/evals/runs.ts'
import { scoreModel } from '../testing/eval-bodies.ts'
import { evalsKit, sampled, ticket, ticketEval } from '../testing/evals-kit.ts'

const unsupported = (param: string) => [400, 'unsupported_value', param]
const file = { type: 'input_file', file_url: '{{ item.ticket }}' }
const template = (content: object) => ({
  input_messages: { type: 'template', template: [{ role: 'user', content: ['Look:', content] }] },
})

test('what a model would refuse in every row is refused where it is written', async (t) => {
  const kit = await evalsKit(t)
  const { app } = kit
  const { id: evalId } = await kit.newEval()
  const fileId = await kit.upload([ticket(0)])

  await t.test('in a run', async () => {
    const refuse = async (more: object) => {
      const body = { data_source: sampled(fileId, more) }
      const { status, error } = await app.call(createEvalRun, { params: { eval_id: evalId }, body })
      return [status, error?.code, error?.param]
    }
    const seeded = { sampling_params: { seed: 1 } }
    for (const type of ['completions', 'responses']) {
      for (const model of ['double-responses', 'double-anthropic']) {
        const refused = await refuse({ type, model, ...seeded })
        assert.deepEqual(refused, unsupported('data_source.sampling_params.seed'))
      }
    }
    const part = 'data_source.input_messages.template[0].content[1]'
    assert.deepEqual(await refuse({ type: 'completions', ...template(file) }), unsupported(`${part}.file_url`))
    const unknown = template({ ...file, file_url: '{{ answer }}' })
    assert.deepEqual(await refuse(unknown), [400, 'invalid_value', part])
    const cached = { type: 'input_text', text: 'a', prompt_cache_breakpoint: { mode: 'explicit' } }
    assert.deepEqual(await refuse(template(cached)), unsupported(`${part}.prompt_cache_breakpoint`))
  })

  await t.test('in a grader, of an eval or by itself', async () => {
    const cases: [more: object, at: string][] = [
      [{ model: 'double-responses', sampling_params: { seed: 1 } }, 'sampling_params.seed'],
      [{ input: [{ role: 'user', content: file }] }, 'input[0].content.file_url'],
    ]
    for (const [more, at] of cases) {
      const grader = { ...scoreModel, ...more }
      const made = await app.call(createEval, { body: { ...ticketEval, testing_criteria: [grader] } })
      assert.deepEqual([made.status, made.error?.code, made.error?.param], unsupported(`testing_criteria[0].${at}`))
      const ran = await app.call(runGrader, { body: { grader, model_sample: '' } })
      assert.deepEqual([ran.status, ran.error?.code, ran.error?.param], unsupported(`grader.${at}`))
      const multi = { type: 'multi', name: 'm', graders: { a: grader }, calculate_output: 'a' }
      const checked = await app.call(validateGrader, { body: { grader: multi } })
      assert.deepEqual(
        [checked.status, checked.error?.code, checked.error?.param],
        unsupported(`grader.graders.a.${at}`),
      )
    }
  })
})
