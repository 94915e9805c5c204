/** Bodies that the contract takes, for tests that are about something else. */
export const stringCheck = {
  type: 'string_check',
  name: 'Match output to human label',
  input: '{{ sample.output_text }}',
  operation: 'eq',
  reference: '{{ item.correct_label }}',
} as const

export const ticketSchema = {
  type: 'object',
  properties: { ticket_text: { type: 'string' }, correct_label: { type: 'string' } },
  required: ['ticket_text', 'correct_label'],
} as const

/** The eval that the seeds make: support tickets and their labels. */
export const ticketEval = {
  name: 'IT Ticket Categorization',
  data_source_config: { type: 'custom', item_schema: ticketSchema, include_sample_schema: true },
  testing_criteria: [stringCheck],
} as const

export const scoreModel = {
  type: 'score_model',
  name: 'How good',
  model: 'double-chat',
  input: [{ role: 'user', content: 'Judge this: {{ sample.output_text }}' }],
} as const

export const labelModel = {
  type: 'label_model',
  name: 'Which tone',
  model: 'double-chat',
  input: [{ role: 'user', content: 'Label this: {{ sample.output_text }}' }],
  labels: ['polite', 'rude'],
  passing_labels: ['polite'],
} as const
