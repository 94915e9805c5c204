import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  APIConnectionError,
  APIError,
  AuthenticationError,
  BadRequestError,
  NotFoundError,
  PermissionDeniedError,
  toFile,
} from 'openai'
import { recordingFetch } from './testing/recording-fetch.ts'
import { useStack } from './testing/use-stack.ts'

const stack = useStack()

const REQUEST_ID = /^req_[0-9a-f]{32}$/
const UNKNOWN_FILE = 'file-01k9z3q4e8f6tv5x2m7c0n1b3a'
const small = async (text = 'x') => await toFile(Buffer.from(text), 'small.txt')

interface Expected {
  readonly status: number
  readonly code: string | null
  readonly param: string | null
  readonly type?: string
}

/** Whether an error is of the class, and says what the server said. */
function surfaces(errorClass: abstract new (...args: never[]) => APIError, expected: Expected) {
  return (error: unknown) => {
    assert.ok(error instanceof errorClass, `${String(error)} is a ${errorClass.name}`)
    const { status, code, param, type } = error
    assert.deepEqual({ status, code, param, type }, { type: 'invalid_request_error', ...expected })
    assert.match(error.requestID ?? '', REQUEST_ID)
    assert.equal(error.requestID, (error.headers as Headers).get('x-request-id'))
    assert.ok(error.message.startsWith(`${expected.status} `))
    return true
  }
}

// S1-7.6
test('a bad request says which parameter is wrong and why', async () => {
  const client = stack().project()
  await assert.rejects(
    async () => await client.files.create({ file: await small(), purpose: 'nonsense' as 'evals' }),
    surfaces(BadRequestError, { status: 400, code: 'invalid_value', param: 'purpose' }),
  )
  await assert.rejects(
    async () =>
      await client.files.create({
        file: await small(),
        purpose: 'evals',
        expires_after: { anchor: 'created_at', seconds: 1 },
      }),
    surfaces(BadRequestError, { status: 400, code: 'integer_below_min_value', param: 'expires_after.seconds' }),
  )
  await assert.rejects(
    async () => await client.post('/uploads', { body: { bytes: 1, filename: 'a', mime_type: 'b' } }),
    surfaces(BadRequestError, { status: 400, code: 'missing_required_parameter', param: 'purpose' }),
  )
  await assert.rejects(
    async () => await client.files.list({ limit: 10_001 }),
    surfaces(BadRequestError, { status: 400, code: 'integer_above_max_value', param: 'limit' }),
  )
  await assert.rejects(
    async () => await client.files.list({ colour: 'red' } as object),
    surfaces(BadRequestError, { status: 400, code: 'unknown_parameter', param: 'colour' }),
  )
})

// S1-0-b S1-5.1 S3-5.1
test('a request without a key, with a wrong key or with a key of another kind is refused', async () => {
  const { baseURL, project, admin, stack: running } = stack()
  const refused = async (client: ReturnType<typeof project>, code: string | null) =>
    await assert.rejects(
      async () => await client.files.list(),
      surfaces(AuthenticationError, { status: 401, code, param: null }),
    )
  await refused(project({ defaultHeaders: { authorization: null } }), null)
  await refused(project({ apiKey: 'sk-proj-nobody-has-this-key' }), 'invalid_api_key')
  await refused(project({ apiKey: running.seeded.adminKey }), 'invalid_api_key')
  await refused(project({ apiKey: running.seeded.adsKey }), 'invalid_api_key')
  await refused(project({ organization: 'org-other' }), 'mismatched_organization')
  await refused(project({ project: 'proj_other' }), 'mismatched_project')
  await assert.rejects(
    async () => await admin({ adminAPIKey: running.seeded.projectKey }).admin.organization.projects.list(),
    surfaces(AuthenticationError, { status: 401, code: 'invalid_api_key', param: null }),
  )
  const basic = await fetch(`${baseURL}/files`, { headers: { authorization: `Basic ${running.seeded.projectKey}` } })
  assert.equal(basic.status, 401)
  await basic.body?.cancel()
  const named = project({ organization: running.seeded.orgId, project: running.seeded.projectId })
  assert.ok(Array.isArray((await named.files.list({ limit: 1 })).data))
})

test('a key without the scope is refused, and told which', async () => {
  const { admin, project, newProject } = stack()
  const { projectId } = await newProject('scoped')
  const { serviceAccounts } = admin().admin.organization.projects
  const account = await serviceAccounts.create(projectId, { name: 'reader', create_service_account_only: true })
  await serviceAccounts.update(account.id, { project_id: projectId, role: 'member' })
  const key = await serviceAccounts.apiKeys.create(account.id, { project_id: projectId, scopes: ['api.files.read'] })
  const reader = project({ apiKey: key.value })
  assert.deepEqual((await reader.files.list()).data, [])
  await assert.rejects(
    async () => await reader.files.create({ file: await small(), purpose: 'evals' }),
    (error) => {
      const expected = { status: 403, code: 'insufficient_permissions', param: null, type: 'permission_error' }
      surfaces(PermissionDeniedError, expected)(error)
      assert.match((error as Error).message, /files\.write/)
      return true
    },
  )
})

test('what is not there is not found, be it an id, a foreign id or a path', async () => {
  const client = stack().project()
  const expected = { status: 404, code: 'not_found', param: 'file_id' }
  await assert.rejects(async () => await client.files.retrieve(UNKNOWN_FILE), surfaces(NotFoundError, expected))
  const { id } = await (
    await stack().newProject('other')
  )
    .client()
    .files.create({ file: await small(), purpose: 'evals' })
  await assert.rejects(async () => await client.files.retrieve(id), surfaces(NotFoundError, expected))
  await assert.rejects(
    async () => await client.moderations.create({ input: 'x' }),
    surfaces(NotFoundError, { status: 404, code: 'not_found', param: null }),
  )
})

test('a body that is too large is answered with 413 and not sent again', async () => {
  const { fetch, exchanges } = recordingFetch()
  const client = stack().project({ fetch })
  await assert.rejects(
    async () =>
      await client.uploads.create({
        bytes: 1,
        filename: 'x'.repeat(3 * 1024 * 1024),
        mime_type: 'text/plain',
        purpose: 'evals',
      }),
    surfaces(APIError, { status: 413, code: 'request_too_large', param: null }),
  )
  assert.equal(exchanges.length, 1)
})

test('a server that is not there is a connection error, after the retries', async () => {
  const { fetch, exchanges } = recordingFetch()
  const client = stack().project({ fetch, baseURL: 'http://127.0.0.1:1/v1', maxRetries: 1 })
  await assert.rejects(async () => await client.files.list(), APIConnectionError)
  assert.equal(exchanges.length, 2)
})
