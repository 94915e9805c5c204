import { createEval, type evalOperations } from '@switchyard/contracts/evals/evals.ts'
import type { graderOperations } from '@switchyard/contracts/evals/grader-runs.ts'
import type { outputItemOperations } from '@switchyard/contracts/evals/output-items.ts'
import { createEvalRun, type evalRunOperations } from '@switchyard/contracts/evals/runs.ts'
import { createFile } from '@switchyard/contracts/files.ts'
import { sql } from 'kysely'
import { outputItemId } from '#modules/evals/domain/output-item-view.ts'
import { scoreModel, stringCheck } from '#modules/evals/testing/eval-bodies.ts'
import { fileForm } from '#modules/files/testing/file-forms.ts'
import type { MakeExample } from '../example.ts'
import { make, type Place } from '../place.ts'

/** Without a schema: what is in one is free. */
export const evalBody = {
  name: 'An eval',
  data_source_config: { type: 'logs' },
  testing_criteria: [stringCheck, { ...scoreModel, sampling_params: { temperature: 0 } }],
} as const

const content = `${JSON.stringify({ item: { correct_label: 'a' } })}\n`

export const newEval = async (at: Place) => await make(at, createEval, { body: evalBody })

export async function runBody(at: Place): Promise<{ data_source: Record<string, unknown> }> {
  const file = await make(at, createFile, { body: fileForm(content, { fields: { purpose: 'evals' } }) })
  const data_source = {
    type: 'responses',
    model: 'double-chat',
    source: { type: 'file_id', id: file.id },
    input_messages: { type: 'template', template: [{ role: 'user', content: '{{ item.correct_label }}' }] },
    sampling_params: { temperature: 0, text: { format: { type: 'text' } } },
  }
  return { data_source }
}

/** One that stays as it is: without the role worker nobody takes it up. */
export async function newRun(at: Place) {
  const { id } = await newEval(at)
  return await make(at, createEvalRun, { params: { eval_id: id }, body: await runBody(at) })
}

async function newOutputItem(at: Place): Promise<Record<string, string>> {
  const run = await newRun(at)
  const sample = { input: [], output: [], finish_reason: null, model: null, usage: null, error: null }
  const asked = { temperature: null, max_completion_tokens: null, top_p: null, seed: null }
  const { kysely } = at.app.db
  await sql`insert into evals.row (run_id, n, item) values (${run.id}, 0, '{}')`.execute(kysely)
  await sql`insert into evals.result (run_id, n, status, passed, sample, results, usage)
    values (${run.id}, 0, 'pass', '{true}', ${JSON.stringify({ ...sample, ...asked })}, '[]', '[]')`.execute(kysely)
  return { eval_id: run.eval_id, run_id: run.id, output_item_id: outputItemId(run.id, 0) }
}

const evalParams: MakeExample = async (at) => ({ params: { eval_id: (await newEval(at)).id } })
const runParams: MakeExample = async (at) => {
  const run = await newRun(at)
  return { params: { eval_id: run.eval_id, run_id: run.id } }
}

type Id = (
  | typeof evalOperations
  | typeof evalRunOperations
  | typeof outputItemOperations
  | typeof graderOperations
)[number]['id']

export const evalExamples: Record<Id, MakeExample> = {
  'evals.create': async () => ({ body: evalBody }),
  'evals.list': async (at) => ({ query: { after: (await newEval(at)).id }, references: ['query.after'] }),
  'evals.retrieve': evalParams,
  'evals.update': async (at) => ({ params: { eval_id: (await newEval(at)).id }, body: { name: 'Renamed' } }),
  'evals.delete': evalParams,
  'evals.runs.create': async (at) => ({
    params: { eval_id: (await newEval(at)).id },
    body: { name: 'A run', ...(await runBody(at)) },
    references: ['body.data_source.source.id'],
  }),
  'evals.runs.list': async (at) => {
    const run = await newRun(at)
    return { params: { eval_id: run.eval_id }, query: { after: run.id }, references: ['query.after'] }
  },
  'evals.runs.retrieve': runParams,
  'evals.runs.cancel': runParams,
  'evals.runs.cancel_in_place': runParams,
  'evals.runs.delete': runParams,
  'evals.runs.output_items.list': async (at) => {
    const { output_item_id: after, ...params } = await newOutputItem(at)
    return { params, query: { after: after ?? '' }, references: ['query.after'] }
  },
  'evals.runs.output_items.retrieve': async (at) => ({ params: await newOutputItem(at) }),
  'fine_tuning.alpha.graders.run': async () => ({
    body: { grader: { ...stringCheck, reference: 'yes' }, model_sample: 'yes' },
  }),
  'fine_tuning.alpha.graders.validate': async () => ({
    body: { grader: { ...scoreModel, range: [1, 5], sampling_params: { temperature: 0 } } },
  }),
}
