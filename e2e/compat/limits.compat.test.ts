import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { OpenAI, RateLimitError, type ClientOptions } from 'openai'
import { stringify } from 'yaml'
import { doubleModels, snapshotOf } from '../../server/test/double-models.ts'
import { recordingFetch } from './testing/recording-fetch.ts'
import { useDoubleStack } from './testing/use-double-stack.ts'

const few = { requests_per_minute: 2, tokens_per_minute: 1_000 }
const folder = mkdtempSync(join(tmpdir(), 'switchyard-limits-'))
const { stack } = useDoubleStack(async () => {
  const file = join(folder, 'limits.yaml')
  const tiers = { tier_1: { limits: few }, tier_2: { limits: { requests_per_minute: 20 } } }
  await writeFile(file, stringify({ tiers }))
  return { SWITCHYARD_LIMITS: file }
})

after(() => rmSync(folder, { recursive: true, force: true }))

const main = fileURLToPath(new URL('../../server/src/main.ts', import.meta.url))
const commandBoundMs = 60_000

/** An organisation of its own, made as an operator makes one; everything else goes through the SDK. */
async function organization(tier: 'tier_1' | 'tier_2') {
  const { stack: running, baseURL } = stack()
  const options = { env: running.env, timeout: commandBoundMs }
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [main, 'orgs', 'create', '--name=Limited', `--tier=${tier}`],
    options,
  )
  const adminAPIKey = /(sk-admin-\S+)/.exec(stdout)?.[1] ?? assert.fail(stdout)
  const admin = (more: ClientOptions = {}) => new OpenAI({ baseURL, adminAPIKey, ...more })
  const { projects } = admin().admin.organization
  const { id: projectId } = await projects.create({ name: 'Limited' })
  const account = await projects.serviceAccounts.create(projectId, { name: 'robot' })
  const apiKey = account.api_key?.value ?? assert.fail('no key')
  return { projectId, admin, project: (more: ClientOptions = {}) => new OpenAI({ baseURL, apiKey, ...more }) }
}

const say = async (client: OpenAI, more: object = {}) =>
  await client.responses.create({ model: 'double-chat', input: 'Hello.', ...more })

async function limitError(work: Promise<unknown>): Promise<RateLimitError> {
  const error = await work.then(
    () => null,
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof RateLimitError, String(error))
  return error
}

// S3-7.2-a S3-8.8-a
test('over the limit the SDK throws a RateLimitError that has everything the server said', async () => {
  const client = (await organization('tier_1')).project({ maxRetries: 0 })
  const { response } = await client.responses.create({ model: 'double-chat', input: 'Hello.' }).withResponse()
  assert.equal(response.headers.get('x-ratelimit-remaining-requests'), '1')
  await client.chat.completions.create({ model: 'double-chat', messages: [{ role: 'user', content: 'Hello.' }] })
  const error = await limitError(say(client))
  assert.deepEqual([error.status, error.code, error.type, error.param], [429, 'rate_limit_exceeded', 'requests', null])
  assert.match(error.message, /^429 Rate limit reached for double-chat in organization org-\w+ on requests per min/)
  assert.match(error.requestID ?? '', /^req_/)
  assert.equal(error.headers.get('x-ratelimit-limit-requests'), '2')
  assert.equal(error.headers.get('x-ratelimit-remaining-requests'), '0')
  assert.match(error.headers.get('x-ratelimit-reset-requests') ?? '', /^(1m0s|\d+(\.\d+)?s)$/)
  const large = await limitError(say((await organization('tier_1')).project(), { max_output_tokens: 2_000 }))
  assert.deepEqual(
    [large.code, large.type, large.headers.get('x-should-retry')],
    ['rate_limit_exceeded', 'tokens', 'false'],
  )
})

// S3-7.2-b
test('left to itself the SDK waits as long as it is told, and is let in', async () => {
  const { fetch, exchanges } = recordingFetch()
  const client = (await organization('tier_2')).project({ fetch })
  const times: number[] = []
  const until = () => exchanges.filter(({ status }) => status === 429).length > 0
  for (let asked = 0; asked < 40 && !until(); asked += 1) {
    times.push(performance.now())
    assert.equal((await say(client)).output_text, 'Hello.')
  }
  const [refused, again] = exchanges.slice(-2)
  assert.deepEqual([refused?.status, again?.status], [429, 200])
  assert.equal(again?.requestHeaders.get('x-stainless-retry-count'), '1')
  const told = Number(refused?.responseHeaders.get('retry-after-ms'))
  assert.ok(told > 0 && performance.now() - (times.at(-1) ?? 0) >= told, `told to wait ${told} ms`)
})

// S3-8.1-a
test('an administrator lowers the limit of a project through the SDK, and the project meets it', async () => {
  const { projectId, admin, project } = await organization('tier_2')
  const { rateLimits } = admin().admin.organization.projects
  const lowered = await rateLimits.updateRateLimit('rl-double', { project_id: projectId, max_requests_per_1_minute: 1 })
  assert.deepEqual([lowered.model, lowered.max_requests_per_1_minute], ['double', 1])
  for await (const { id, max_requests_per_1_minute: most } of rateLimits.listRateLimits(projectId)) {
    assert.deepEqual([id, most], ['rl-double', 1])
  }
  const client = project({ maxRetries: 0 })
  await say(client)
  const error = await limitError(say(client))
  assert.match(error.message, new RegExp(`in project ${projectId} on requests per min \\(RPM\\): Limit 1`))
})

// S3-8.4-a
test('a month that is used up is told once: the SDK does not try again', async () => {
  const { admin, project } = await organization('tier_2')
  const limit = { threshold_amount: 1, currency: 'USD', interval: 'month' } as const
  await admin().admin.organization.spendLimit.update(limit)
  const { fetch, exchanges } = recordingFetch()
  const error = await limitError(say(project({ fetch, maxRetries: 5 })))
  assert.deepEqual([error.code, error.type], ['insufficient_quota', 'insufficient_quota'])
  assert.equal(exchanges.length, 1)
})

// S3-4.5
test('the limits of fine-tuning are read with a plain GET of the SDK', async () => {
  const client = (await organization('tier_2')).project()
  type Limits = { object: string; data: { model: string; max_concurrent_jobs: number }[] }
  const limits: Limits = await client.get('/fine_tuning/model_limits')
  assert.equal(limits.object, 'list')
  assert.deepEqual(
    limits.data.map(({ model, max_concurrent_jobs: jobs }) => [model, jobs]),
    doubleModels.map((model) => [snapshotOf(model), 3]),
  )
})
