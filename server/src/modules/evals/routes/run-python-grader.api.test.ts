import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runGrader } from '@switchyard/contracts/evals/grader-runs.ts'
import { sandboxApp } from '#modules/containers/testing/sandbox-app.ts'

test('python graders run by themselves, and what goes wrong in them is told', async (t) => {
  const app = await sandboxApp(t, { runtime: 'runc', roles: ['api', 'sandbox'] })
  const run = async (source: string) => {
    const grader = { type: 'python', name: 'p', source }
    const body = { grader, model_sample: '{"n": 3}', item: { n: 4 } }
    const reply = await app.call(runGrader, { body })
    assert.equal(reply.status, 200, reply.text)
    return reply.body
  }

  await t.test('it sees the sample and the item', async () => {
    const source = "def grade(sample, item):\n    return sample['output_json']['n'] / item['n']"
    const { reward, metadata } = await run(source)
    assert.deepEqual([reward, metadata.errors.python_grader_runtime_error], [0.75, false])
  })

  await t.test('what it raises is shown to whoever wrote it', async () => {
    const { reward, metadata } = await run("def grade(sample, item):\n    raise ValueError('no idea')")
    assert.deepEqual([reward, metadata.errors.python_grader_runtime_error], [0, true])
    assert.match(metadata.errors.python_grader_runtime_error_details ?? '', /ValueError: no idea/)
  })

  await t.test('it may stand beside others', async () => {
    const python = (result: string) => ({
      type: 'python',
      name: 'p',
      source: `def grade(sample, item): return ${result}`,
    })
    const graders = { a: python('0.5'), b: python("'text'"), c: python('1') }
    const multi = { type: 'multi', name: 'm', graders, calculate_output: 'a + c' }
    const broken = await app.call(runGrader, { body: { grader: multi, model_sample: '' } })
    assert.deepEqual([broken.body.reward, broken.body.sub_rewards], [0, { a: 0.5, c: 1 }])
    assert.equal(broken.body.metadata.errors.python_grader_runtime_error, true)
    const { b: _broken, ...sound } = graders
    const whole = await app.call(runGrader, { body: { grader: { ...multi, graders: sound }, model_sample: '' } })
    assert.equal(whole.body.reward, 1.5)
  })
})
