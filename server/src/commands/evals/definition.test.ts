import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { readDefinition } from './definition.ts'

const folder = mkdtempSync(join(tmpdir(), 'switchyard-eval-file-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const criteria = `testing_criteria:
  - type: string_check
    name: label
    input: '{{ sample.output_text }}'
    reference: '{{ item.label }}'
    operation: eq
`

function read(text: string) {
  const file = join(folder, 'tickets.yaml')
  writeFileSync(file, text)
  return readDefinition(file)
}

const refused = (text: string, says: RegExp) => assert.throws(() => read(text), says)

test('an eval file becomes what the API takes', () => {
  const definition = read(`${criteria}data: rows.jsonl
model: rehearsal
prompt: 'Label: {{ item.ticket }}'
sampling_params: { temperature: 0 }
item_schema: { type: object, properties: { ticket: { type: string } } }
metadata: { team: it }
pass_rate_min: 0.9
`)
  assert.deepEqual(definition, {
    name: 'tickets',
    eval: {
      body: {
        name: 'tickets',
        data_source_config: {
          type: 'custom',
          item_schema: { type: 'object', properties: { ticket: { type: 'string' } } },
          include_sample_schema: true,
        },
        testing_criteria: [
          {
            type: 'string_check',
            name: 'label',
            input: '{{ sample.output_text }}',
            reference: '{{ item.label }}',
            operation: 'eq',
          },
        ],
        metadata: { team: 'it' },
      },
    },
    source: { kind: 'file', path: join(folder, 'rows.jsonl') },
    dataSource: {
      type: 'responses',
      model: 'rehearsal',
      input_messages: { type: 'template', template: [{ role: 'user', content: 'Label: {{ item.ticket }}' }] },
      sampling_params: { temperature: 0 },
    },
    metadata: { team: 'it' },
    bounds: { passRateMin: 0.9, errorsMax: 0 },
  })
})

test('rows may stand in the file, with their answers, and an eval may be there already', () => {
  const {
    eval: of,
    source,
    dataSource,
  } = read('eval_id: eval_1\nrows:\n  - { item: { a: 1 }, sample: { output_text: x } }\n')
  assert.deepEqual([of, dataSource], [{ id: 'eval_1' }, { type: 'jsonl' }])
  const content = [{ item: { a: 1 }, sample: { output_text: 'x' } }]
  assert.deepEqual(source, { kind: 'given', source: { type: 'file_content', content }, rowsTotal: 1 })
})

test('what is wrong is said with its line and column', () => {
  refused(`name: x\n${criteria}data: a\nmodle: m\n`, /^Error: tickets\.yaml:9:1: modle: there is no such key$/)
  refused(`data: a\n${criteria.replace('eq', 'same')}`, /tickets\.yaml:7:16: testing_criteria\[0\]\.operation: /)
  refused(
    `data: a\n${criteria}model: m\ninput_messages:\n  - role: nobody\n    content: x\n`,
    /tickets\.yaml:10:11: input_messages\[0\]\.role/,
  )
  refused(`${criteria}rows:\n  - item: 5\n`, /tickets\.yaml:8:11: rows\[0\]\.item/)
  refused(
    `data: a\n${criteria}data_source_config:\n  type: custom\n`,
    /tickets\.yaml:9:3: data_source_config\.item_schema/,
  )
  refused('name: [', /^Error: tickets\.yaml:1:\d+: .+ end with a \]$/)
  refused('5', /tickets\.yaml:1:1: /)
})

test('what contradicts itself is refused', () => {
  refused(`${criteria}data: a\nrows: [{ item: {} }]\n`, /:8:1: say what to run over once: data or rows/)
  refused(`${criteria}data: a\neval_id: eval_1\n`, /:1:1: the eval eval_1 has its own: remove testing_criteria/)
  refused(`${criteria}data: a\ntype: jsonl\nmodel: m\n`, /:9:1: a run of the type jsonl asks no model/)
  refused(`${criteria}data: a\nprompt: x\n`, /model: input_messages are sent to a model/)
  refused(criteria, /say what to run over/)
  refused('data: a', /say what passes/)
})
