import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { toStreamingFile, type OpenAI } from 'openai'
import type { RunCreateResponse, RunRetrieveResponse } from 'openai/resources/evals/runs/runs'
import { label, markerOf } from './row-calls.ts'

const model = 'double-chat'
const pollMs = 500
const over: readonly string[] = ['completed', 'failed', 'canceled']

/** As long as a ticket is that somebody wrote. */
const ticketOf = (row: number) =>
  `${markerOf(row)} ${'The monitor of my desk stays black since this morning. '.repeat(4)}`

/** An eval of three graders, one of which asks a model as well. Gives its id. */
export async function newRowsEval(client: OpenAI): Promise<string> {
  const texts = { input: '{{ sample.output_text }}', reference: '{{ item.label }}' }
  const { id } = await client.evals.create({
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
      { type: 'string_check', name: 'exact', operation: 'eq', ...texts },
      { type: 'text_similarity', name: 'near', evaluation_metric: 'fuzzy_match', pass_threshold: 0.9, ...texts },
      {
        type: 'score_model',
        name: 'judged',
        model,
        range: [0, 1],
        pass_threshold: 0.5,
        input: [
          { role: 'developer', content: 'How well does the label fit the ticket, from 0 to 1?' },
          { role: 'user', content: '{{ item.ticket }}\n\nLabel: {{ sample.output_text }}' },
        ],
      },
    ],
  })
  return id
}

export const graders = 3

async function* linesOf(from: number, count: number): AsyncGenerator<Buffer> {
  for (let row = from; row < from + count; row += 1)
    yield Buffer.from(`${JSON.stringify({ item: { ticket: ticketOf(row), label } })}\n`)
}

/** Rows that were never asked for, in a file of their own. Gives its id. */
export async function uploadRows(client: OpenAI, from: number, count: number): Promise<string> {
  const bytes = Readable.toWeb(Readable.from(linesOf(from, count)))
  const { id } = await client.files.create({ file: toStreamingFile(bytes as never, 'rows.jsonl'), purpose: 'evals' })
  return id
}

export async function beginRun(client: OpenAI, evalId: string, fileId: string): Promise<RunCreateResponse> {
  return await client.evals.runs.create(evalId, {
    name: 'rows',
    data_source: {
      type: 'responses',
      model,
      input_messages: {
        type: 'template',
        template: [
          { role: 'developer', content: 'Answer with the label of the ticket, and nothing else.' },
          { role: 'user', content: '{{ item.ticket }}' },
        ],
      },
      source: { type: 'file_id', id: fileId },
    },
  })
}

/** Asks for the run until it has ended; a server that is away for a while is asked again. */
export async function endOf(
  client: OpenAI,
  { id, eval_id: evalId }: Pick<RunCreateResponse, 'id' | 'eval_id'>,
  boundMs: number,
): Promise<RunRetrieveResponse> {
  const until = performance.now() + boundMs
  for (;;) {
    const run = await client.evals.runs.retrieve(id, { eval_id: evalId })
    if (over.includes(run.status) || performance.now() > until) return run
    await sleep(pollMs)
  }
}
