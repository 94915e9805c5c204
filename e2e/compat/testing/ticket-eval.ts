import type { EvalCreateParams } from 'openai/resources/evals/evals'

/** The eval of the seeds' example: support tickets and their labels. */
export const ticketEval: EvalCreateParams = {
  name: 'IT Ticket Categorization',
  data_source_config: {
    type: 'custom',
    item_schema: {
      type: 'object',
      properties: { ticket_text: { type: 'string' }, correct_label: { type: 'string' } },
      required: ['ticket_text', 'correct_label'],
    },
    include_sample_schema: true,
  },
  testing_criteria: [
    {
      type: 'string_check',
      name: 'Match output to human label',
      input: '{{ sample.output_text }}',
      operation: 'eq',
      reference: '{{ item.correct_label }}',
    },
  ],
}
