import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CreateDataSourceConfig, CreateRunDataSource, itemSchemaBytesMax, itemSchemaDepthMax } from './data-sources.ts'
import { CreateTestingCriterion, GivenGrader } from './graders.ts'
import { GivenMessage } from './messages.ts'

interface Refusal {
  readonly path: PropertyKey[]
  readonly fault?: unknown
}

const refusal = (result: { error?: { issues: readonly object[] } }): Refusal => {
  const issue = result.error?.issues[0] as { path: PropertyKey[]; params?: { fault?: unknown } } | undefined
  assert.ok(issue !== undefined, 'it is refused')
  return issue.params === undefined ? { path: issue.path } : { path: issue.path, fault: issue.params.fault }
}

const message = (content: unknown) => GivenMessage.parse({ role: 'user', content })
const scoreModel = { type: 'score_model', name: 's', model: 'm', input: [{ role: 'user', content: 'x' }] }
const labelModel = { ...scoreModel, type: 'label_model', labels: ['good', 'bad'], passing_labels: ['good'] }
const stringCheck = { type: 'string_check', name: 'c', input: 'a', reference: 'b', operation: 'eq' }

// S1-4.6-j
test('messages of a template have one form, whichever was sent', () => {
  const text = { type: 'input_text', text: 'hello' }
  assert.deepEqual(message('hello'), { type: 'message', role: 'user', content: text })
  assert.deepEqual(message(text), { type: 'message', role: 'user', content: text })
  const output = { type: 'output_text', text: 'so' }
  const image = { type: 'input_image', image_url: 'data:image/png;base64,AA==' }
  assert.deepEqual(message(['hello', output, image]).content, [text, output, image])
  const again = message('hello')
  assert.deepEqual(GivenMessage.parse(again), again)
})

test('a place to cache up to is refused where it is written, since no row is sent with it', () => {
  const text = { type: 'input_text', text: 'a', prompt_cache_breakpoint: { mode: 'explicit' } }
  for (const content of [text, ['b', text]]) {
    const { error } = GivenMessage.safeParse({ role: 'user', content })
    assert.match(JSON.stringify(error?.issues), /"prompt_cache_breakpoint"\].*unsupported_value/)
  }
})

test('audio is refused where it is written, since no model here takes it', () => {
  const audio = { type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } }
  const { error } = GivenMessage.safeParse({ role: 'user', content: audio })
  assert.match(JSON.stringify(error?.issues), /unsupported_value/)
})

test('a label that passes is one of the labels', () => {
  assert.ok(CreateTestingCriterion.safeParse(labelModel).success)
  const stray = CreateTestingCriterion.safeParse({ ...labelModel, passing_labels: ['good', 'fine'] })
  assert.deepEqual(refusal(stray).path, ['passing_labels', 1])
  assert.deepEqual(refusal(CreateTestingCriterion.safeParse({ ...labelModel, labels: ['good', 'good'] })).path, [
    'labels',
    1,
  ])
})

test('a score passes at a threshold inside its range', () => {
  const parse = (more: object) => CreateTestingCriterion.safeParse({ ...scoreModel, ...more })
  assert.ok(parse({ range: [-5, 5], pass_threshold: -5 }).success)
  assert.deepEqual(refusal(parse({ range: [1, 1] })).path, ['range'])
  assert.deepEqual(refusal(parse({ pass_threshold: 1.1 })).path, ['pass_threshold'])
  assert.deepEqual(refusal(parse({ range: [1] })).path, ['range'])
})

test('the bound on tokens may be spelled either way', () => {
  for (const name of ['max_completion_tokens', 'max_completions_tokens']) {
    const grader = CreateTestingCriterion.parse({ ...scoreModel, sampling_params: { [name]: 7 } })
    assert.deepEqual('sampling_params' in grader && grader.sampling_params, { max_completions_tokens: 7 })
    const source = { type: 'stored_completions' }
    const run = CreateRunDataSource.parse({ type: 'completions', source, sampling_params: { [name]: 7 } })
    assert.deepEqual('sampling_params' in run && run.sampling_params, { max_completion_tokens: 7 })
  }
})

test('a run of responses has no smaller bound on tokens than a response', () => {
  for (const name of ['max_completion_tokens', 'max_completions_tokens']) {
    const parse = (bound: number) =>
      CreateRunDataSource.safeParse({
        type: 'responses',
        source: { type: 'responses' },
        sampling_params: { [name]: bound },
      })
    assert.ok(parse(16).success)
    assert.deepEqual(refusal(parse(15)).path, ['sampling_params', name])
  }
})

test('several graders in one are taken by name, and alone as the SDK types it', () => {
  const multi = { type: 'multi', name: 'm', calculate_output: 'a' }
  assert.ok(GivenGrader.safeParse({ ...multi, graders: { a: stringCheck, b: labelModel } }).success)
  assert.ok(GivenGrader.safeParse({ ...multi, graders: stringCheck }).success)
  for (const graders of [{}, { 'a b': stringCheck }, { a: { ...multi, graders: {} } }]) {
    assert.ok(!GivenGrader.safeParse({ ...multi, graders }).success, JSON.stringify(graders))
  }
  assert.ok(!CreateTestingCriterion.safeParse({ ...multi, graders: { a: stringCheck } }).success)
  assert.ok(!GivenGrader.safeParse(labelModel).success)
})

test('a schema of items has bounds', () => {
  const parse = (item_schema: unknown) => CreateDataSourceConfig.safeParse({ type: 'custom', item_schema })
  let deep: object = {}
  for (let depth = 0; depth < itemSchemaDepthMax - 1; depth += 1) deep = { not: deep }
  assert.ok(parse(deep).success)
  assert.deepEqual(refusal(parse({ not: deep })).path, ['item_schema'])
  for (let depth = 0; depth < 20_000; depth += 1) deep = { not: deep }
  assert.deepEqual(refusal(parse(deep)).path, ['item_schema'])
  assert.deepEqual(refusal(parse({ title: 'x'.repeat(itemSchemaBytesMax) })).path, ['item_schema'])
  assert.deepEqual(refusal(parse('{}')).path, ['item_schema'])
})

test('secrets are not taken by what is stored before it runs', () => {
  const policy = { type: 'allowlist', allowed_domains: ['a.example'] }
  const asked = (network_policy: object) => ({
    type: 'responses',
    model: 'm',
    source: { type: 'responses' },
    sampling_params: { tools: [{ type: 'shell', environment: { type: 'container_auto', network_policy } }] },
  })
  assert.ok(CreateRunDataSource.safeParse(asked(policy)).success)
  const secrets = [{ domain: 'a.example', name: 'token', value: 'hush' }]
  const result = CreateRunDataSource.safeParse(asked({ ...policy, domain_secrets: secrets }))
  const path = ['sampling_params', 'tools', 0, 'environment', 'network_policy', 'domain_secrets']
  assert.deepEqual(refusal(result), { path, fault: 'secrets_not_allowed' })
})

test('a model and what it is asked come together', () => {
  const source = { type: 'file_id', id: 'file-1' }
  const input_messages = { type: 'template', template: [{ role: 'user', content: '{{ item.a }}' }] }
  const parse = (more: object) => CreateRunDataSource.safeParse({ type: 'responses', source, ...more })
  const fault = 'missing_required_parameter'
  assert.ok(parse({ model: 'm', input_messages }).success)
  assert.ok(parse({}).success)
  assert.deepEqual(refusal(parse({ input_messages })), { path: ['model'], fault })
  assert.deepEqual(refusal(parse({ model: 'm' })), { path: ['input_messages'], fault })
})

test('each kind of run takes the sources that it can read', () => {
  const sources: Record<string, object> = {
    file_id: { type: 'file_id', id: 'file-1' },
    file_content: { type: 'file_content', content: [{ item: { a: 1 }, sample: { output_text: 'x' } }] },
    stored_completions: { type: 'stored_completions', limit: 5, metadata: { a: 'b' }, model: null },
    responses: { type: 'responses', users: ['u'], tools: null, created_after: 1 },
  }
  const takes = (type: string) =>
    Object.entries(sources).flatMap(([name, source]) =>
      CreateRunDataSource.safeParse({ type, source }).success ? [name] : [],
    )
  assert.deepEqual(takes('jsonl'), ['file_id', 'file_content'])
  assert.deepEqual(takes('completions'), ['file_id', 'file_content', 'stored_completions'])
  assert.deepEqual(takes('responses'), ['file_id', 'file_content', 'responses'])
})
