import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BadRequestError, ConflictError, NotFoundError } from 'openai'
import { useDoubleStack } from './testing/use-double-stack.ts'

const { stack } = useDoubleStack()

const organization = () => stack().admin().admin.organization
const group = 'double'
const snapshot = 'double-chat-2026-11-01'

test('the limits of a project are listed and lowered', async () => {
  const { projects } = organization()
  const { projectId } = await stack().newProject('limited')
  const limits = []
  for await (const limit of projects.rateLimits.listRateLimits(projectId, { limit: 1 })) limits.push(limit)
  assert.deepEqual(
    limits.map(({ id, object, model }) => [id, object, model]),
    [[`rl-${group}`, 'project.rate_limit', group]],
  )
  const lowered = await projects.rateLimits.updateRateLimit(`rl-${group}`, {
    project_id: projectId,
    max_requests_per_1_minute: 2,
    max_tokens_per_1_minute: 1_000,
    max_audio_megabytes_per_1_minute: 1,
  })
  assert.deepEqual(
    [lowered.max_requests_per_1_minute, lowered.max_tokens_per_1_minute, lowered.max_audio_megabytes_per_1_minute],
    [2, 1_000, 1],
  )
  const [shown] = (await projects.rateLimits.listRateLimits(projectId)).data
  assert.deepEqual(shown, lowered)
  await assert.rejects(
    async () => await projects.rateLimits.updateRateLimit('rl-none', { project_id: projectId }),
    NotFoundError,
  )

  const logs = await organization().auditLogs.list({ event_types: ['rate_limit.updated'], project_ids: [projectId] })
  assert.deepEqual(
    logs.data.map((entry) => entry['rate_limit.updated']),
    [
      {
        id: `rl-${group}`,
        changes_requested: {
          max_requests_per_1_minute: 2,
          max_tokens_per_1_minute: 1_000,
          max_audio_megabytes_per_1_minute: 1,
        },
      },
    ],
  )
})

test('spend limits of the organisation and of a project are set, replaced and deleted', async () => {
  const { spendLimit, projects } = organization()
  const { projectId } = await stack().newProject('spending')
  const body = { currency: 'USD', interval: 'month', threshold_amount: 1_000_000 } as const
  const set = await spendLimit.update(body)
  assert.deepEqual(set, { object: 'organization.spend_limit', ...body, enforcement: { status: 'inactive' } })
  assert.deepEqual(await spendLimit.retrieve(), set)
  assert.deepEqual(await spendLimit.delete(), { object: 'organization.spend_limit.deleted', deleted: true })
  await assert.rejects(async () => await spendLimit.retrieve(), NotFoundError)

  const inProject = await projects.spendLimit.update(projectId, { ...body, threshold_amount: 5 })
  assert.deepEqual([inProject.object, inProject.threshold_amount], ['project.spend_limit', 5])
  assert.deepEqual(await projects.spendLimit.retrieve(projectId), inProject)
  assert.deepEqual(await projects.spendLimit.delete(projectId), {
    object: 'project.spend_limit.deleted',
    deleted: true,
  })
})

test('what a project used is in usage and costs, under its model and its key', async () => {
  const { usage } = organization()
  const { projectId, client } = await stack().newProject('used')
  const start_time = Math.floor(Date.now() / 1_000) - 3_600
  const messages = [{ role: 'user' as const, content: 'Say it again.' }]
  const said = [
    await client().chat.completions.create({ model: 'double-chat', messages }),
    await client().chat.completions.create({ model: snapshot, messages }),
  ]
  const input = said.reduce((sum, one) => sum + (one.usage?.prompt_tokens ?? 0), 0)
  const output = said.reduce((sum, one) => sum + (one.usage?.completion_tokens ?? 0), 0)
  assert.ok(input > 0 && output > 0)

  const filters = { start_time, project_ids: [projectId], models: [snapshot], batch: false }
  const page = await usage.completions({
    ...filters,
    bucket_width: '1h',
    group_by: ['project_id', 'model', 'api_key_id'],
  })
  assert.deepEqual([page.object, page.has_more, page.next_page], ['page', false, null])
  const results = page.data.flatMap((bucket) => bucket.results)
  let counted = 0
  for (const one of results) {
    assert.ok(one.object === 'organization.usage.completions.result')
    assert.deepEqual([one.project_id, one.model], [projectId, snapshot])
    assert.match(one.api_key_id ?? '', /^key_/)
    counted += one.num_model_requests
  }
  assert.equal(counted, 2)
  const tokens = results.map((one) => ('output_tokens' in one ? [one.input_tokens, one.output_tokens] : [0, 0]))
  assert.equal(
    tokens.reduce((sum, [read]) => sum + (read ?? 0), 0),
    input,
  )
  assert.equal(
    tokens.reduce((sum, [, written]) => sum + (written ?? 0), 0),
    output,
  )

  const costs = await usage.costs({ start_time, project_ids: [projectId], group_by: ['project_id', 'line_item'] })
  const spent = costs.data.flatMap((bucket) => bucket.results)
  assert.ok(spent.length > 0)
  for (const one of spent) {
    assert.ok(one.object === 'organization.costs.result')
    assert.deepEqual([one.project_id, one.line_item, one.amount?.currency], [projectId, snapshot, 'usd'])
    assert.ok((one.amount?.value ?? 0) > 0)
  }
})

test('every kind of usage answers with buckets', async () => {
  const { usage } = organization()
  const query = { start_time: 1_790_000_000, end_time: 1_790_086_400, bucket_width: '1h' as const, limit: 2 }
  const pages = [
    await usage.audioSpeeches(query),
    await usage.audioTranscriptions(query),
    await usage.codeInterpreterSessions(query),
    await usage.decisions(query),
    await usage.embeddings(query),
    await usage.fileSearchCalls(query),
    await usage.images({ ...query, sizes: ['256x256'] }),
    await usage.moderations(query),
    await usage.vectorStores(query),
    await usage.webSearchCalls({ ...query, context_levels: ['low'] }),
  ]
  for (const page of pages) {
    assert.deepEqual(page.data, [
      { object: 'bucket', start_time: 1_790_000_000, end_time: 1_790_002_800, results: [] },
      { object: 'bucket', start_time: 1_790_002_800, end_time: 1_790_006_400, results: [] },
    ])
    assert.equal(page.has_more, true)
  }
  const next = await usage.embeddings({ ...query, page: pages[4]?.next_page ?? '' })
  assert.equal(next.data[0]?.start_time, 1_790_006_400)
  await assert.rejects(async () => await usage.images({ ...query, limit: 169 }), BadRequestError)
})

// S3-4.5
test('what the SDK has no name for is reached by its raw calls: payments, tier, fine-tuning limits', async () => {
  // A raw call carries the ordinary key, whatever it is a key of.
  const admin = stack().project({ apiKey: stack().stack.seeded.adminKey })
  const body = { amount: 5, currency: 'usd', reference: 'compat 1' }
  const paid = await admin.post<{ amount: number; object: string }>('/organization/payments', { body })
  assert.deepEqual([paid.object, paid.amount], ['organization.payment', 5])
  await assert.rejects(async () => await admin.post('/organization/payments', { body }), ConflictError)
  const tier = await admin.get<{ object: string; total_paid: { value: number } }>('/organization/usage_tier')
  assert.deepEqual([tier.object, tier.total_paid.value], ['organization.usage_tier', 5])
  const limits = await stack().project().get<{ data: { model: string }[] }>('/fine_tuning/model_limits')
  assert.ok(limits.data.some(({ model }) => model === snapshot))
})
