import type { evalOperations } from '@switchyard/contracts/evals/evals.ts'
import type { graderOperations } from '@switchyard/contracts/evals/grader-runs.ts'
import type { outputItemOperations } from '@switchyard/contracts/evals/output-items.ts'
import type { evalRunOperations } from '@switchyard/contracts/evals/runs.ts'
import { scoreModel, stringCheck } from '#modules/evals/testing/eval-bodies.ts'
import { limitedOrg } from '#modules/limits/testing/rate-kit.ts'
import { insertUsageRows, usageRow } from '#modules/limits/testing/usage-rows.ts'
import { evalBody, newEval, newRun, runBody } from '../examples/evals.ts'
import type { Place } from '../place.ts'
import type { FaultCase, FaultCases } from './fault-case.ts'

type Listed = readonly [
  ...typeof evalOperations,
  ...typeof evalRunOperations,
  ...typeof outputItemOperations,
  ...typeof graderOperations,
]

const noEval: FaultCase = async () => ({ params: { eval_id: 'eval_none' }, param: 'eval_id' })
const noRun: FaultCase = async (at) => ({
  params: { eval_id: (await newEval(at)).id, run_id: 'evalrun_none' },
  param: 'run_id',
})

const audio = { role: 'user', content: { type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } } }
const dear = 1_000_000_000_000_000

/** A run as asked for, with one thing about it that must be refused. */
async function askedRun(at: Place, change: (source: Record<string, unknown>) => object, param: string) {
  const { data_source: source } = await runBody(at)
  const params = { eval_id: (await newEval(at)).id }
  return { params, body: { data_source: { ...source, ...change(source) } }, param: `data_source.${param}` }
}

const secretShell = {
  type: 'shell',
  environment: {
    type: 'container_auto',
    network_policy: {
      type: 'allowlist',
      allowed_domains: ['a.example'],
      domain_secrets: [{ domain: 'a.example', name: 'token', value: 'hush' }],
    },
  },
}

const withTools = (...tools: object[]) => ({ sampling_params: { tools } })

export const evalFaults: FaultCases<Listed> = {
  'evals.create': {
    model_not_found: async () => ({
      body: { ...evalBody, testing_criteria: [{ ...scoreModel, model: 'none' }] },
      param: 'testing_criteria[0].model',
    }),
    unsupported_value: async () => ({
      body: { ...evalBody, testing_criteria: [{ ...scoreModel, input: [audio] }] },
      param: 'testing_criteria[0].input[0].content.type',
    }),
  },
  'evals.retrieve': { not_found: noEval },
  'evals.update': {
    not_found: async () => ({ params: { eval_id: 'eval_none' }, body: { name: 'x' }, param: 'eval_id' }),
  },
  'evals.delete': { not_found: noEval },
  'evals.runs.create': {
    not_found: (at) => askedRun(at, () => ({ source: { type: 'file_id', id: 'file-none' } }), 'source.id'),
    model_not_found: (at) => askedRun(at, () => ({ model: 'none' }), 'model'),
    secrets_not_allowed: (at) =>
      askedRun(at, () => withTools(secretShell), 'sampling_params.tools[0].environment.network_policy.domain_secrets'),
    unsupported_tool: (at) => askedRun(at, () => withTools({ type: 'web_search' }), 'sampling_params.tools[0].type'),
    unsupported_value: (at) =>
      askedRun(
        at,
        () => ({ input_messages: { type: 'template', template: [audio] } }),
        'input_messages.template[0].content.type',
      ),
  },
  'evals.runs.list': { not_found: noEval },
  'evals.runs.retrieve': { not_found: noRun },
  'evals.runs.cancel': { not_found: noRun },
  'evals.runs.cancel_in_place': { not_found: noRun },
  'evals.runs.delete': { not_found: noRun },
  'evals.runs.output_items.list': { not_found: noRun },
  'evals.runs.output_items.retrieve': {
    async not_found(at) {
      const run = await newRun(at)
      const params = { eval_id: run.eval_id, run_id: run.id, output_item_id: 'outputitem_none' }
      return { params, param: 'output_item_id' }
    },
  },
  'fine_tuning.alpha.graders.run': {
    model_not_found: async () => ({
      body: { grader: { ...scoreModel, model: 'none' }, model_sample: '' },
      param: 'grader.model',
    }),
    unsupported_value: async () => ({
      body: { grader: { ...scoreModel, input: [audio] }, model_sample: '' },
      param: 'grader.input[0].content.type',
    }),
    async insufficient_quota({ app }) {
      const org = await limitedOrg(app, 'tier_1')
      const atMs = (await app.db.now()).getTime()
      await insertUsageRows(app.db, [usageRow({ orgId: org.id, projectId: org.project.id, atMs }, { costNanos: dear })])
      return { body: { grader: scoreModel, model_sample: '' }, key: org.project.key, param: null }
    },
  },
  'fine_tuning.alpha.graders.validate': {
    model_not_found: async () => ({ body: { grader: { ...scoreModel, model: 'none' } }, param: 'grader.model' }),
    unsupported_value: async () => ({
      body: {
        grader: {
          type: 'multi',
          name: 'm',
          graders: { a: stringCheck, b: { ...scoreModel, input: [audio] } },
          calculate_output: 'a',
        },
      },
      param: 'grader.graders.b.input[0].content.type',
    }),
  },
}
