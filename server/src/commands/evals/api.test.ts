import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { ApiRefusal, openApi, ServerAway } from './api.ts'

type Answer = (request: IncomingMessage, response: ServerResponse) => void

/** A server that gives these answers in turn, the last one again and again. */
async function serverOf(t: TestContext, ...answers: Answer[]) {
  const keys: (string | string[] | undefined)[] = []
  const server = createServer((request, response) => {
    const answer = answers[Math.min(keys.length, answers.length - 1)]
    keys.push(request.headers['idempotency-key'])
    answer?.(request, response)
  })
  t.after(() => server.closeAllConnections())
  t.after(() => server.close())
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const troubles: (string | null)[] = []
  return { api: openApi({ baseUrl, apiKey: 'k' }, (says) => void troubles.push(says)), baseUrl, keys, troubles }
}

const say =
  (status: number, body: object, headers: Record<string, string> = {}): Answer =>
  (_request, response) =>
    void response.writeHead(status, headers).end(JSON.stringify(body))
const keepBody =
  (bodies: string[]): Answer =>
  (request, response) => {
    let body = ''
    request.setEncoding('latin1').on('data', (text: string) => (body += text))
    request.on('end', () => {
      bodies.push(body)
      response.end('{}')
    })
  }
const hangUp: Answer = (request) => void request.socket.destroy()

test('a server that restarts is waited for, and what is made is asked for with one key', async (t) => {
  const away = say(503, { error: { message: 'Not now.' } })
  const { api, keys, troubles } = await serverOf(t, hangUp, away, say(200, { id: 'x' }))
  assert.deepEqual(await api.call({ method: 'POST', path: '/evals', body: {} }), { id: 'x' })
  assert.equal(keys.length, 3)
  assert.equal(new Set(keys).size, 1)
  assert.match(troubles[0] ?? '', /does not answer \((?:ECONNRESET|UND_ERR_SOCKET)\); trying again/)
  assert.deepEqual(troubles.slice(1), ['Not now; trying again', null])
})

test('a refusal is final and names the field', async (t) => {
  const error = { message: 'It is not known.', param: 'testing_criteria[0].type' }
  const { api, keys } = await serverOf(t, say(400, { error }))
  const refused = api.call({ method: 'GET', path: '/evals' })
  await assert.rejects(refused, (thrown) => {
    assert.ok(thrown instanceof ApiRefusal)
    assert.deepEqual([thrown.status, thrown.message], [400, 'testing_criteria[0].type: It is not known.'])
    return true
  })
  assert.equal(keys.length, 1)
})

test('a 429 that waiting does not help is not repeated', async (t) => {
  const spent = say(429, { error: { message: 'The month is spent.' } }, { 'x-should-retry': 'false' })
  const { api, keys } = await serverOf(t, spent)
  await assert.rejects(api.call({ method: 'GET', path: '/evals' }), /The month is spent\./)
  assert.equal(keys.length, 1)
})

test('what answers but is not the API is said to be that', async (t) => {
  const page: Answer = (_request, response) => void response.end('<!doctype html>')
  const signIn = await serverOf(t, page)
  await assert.rejects(signIn.api.call({ method: 'GET', path: '/evals' }), (thrown) => {
    assert.ok(thrown instanceof ApiRefusal)
    assert.match(thrown.message, /^http:\S+ answered with something else than JSON: is it the base URL\?$/)
    return true
  })
  const { api, keys } = await serverOf(t, say(302, {}, { location: '/sign-in' }), page)
  await assert.rejects(api.call({ method: 'GET', path: '/evals' }), /sends on to \/sign-in: is it the base URL\?/)
  assert.equal(keys.length, 1)
  const other = await serverOf(t, say(404, { error: { message: 'There is no such path.' } }))
  await assert.rejects(
    other.api.call({ method: 'POST', path: '/evals', body: {} }),
    /answered There is no such path: is it the base URL\?$/,
  )
  const lost = other.api.call({ method: 'GET', path: '/evals/eval_1' })
  await assert.rejects(lost, { message: 'There is no such path.' })
})

test('a server that asks to be left alone for hours is not waited for longer than any other', async (t) => {
  const hours = say(429, { error: { message: 'Later.' } }, { 'retry-after': '36000' })
  const { baseUrl } = await serverOf(t, hours)
  const api = openApi({ baseUrl, apiKey: 'k' }, () => undefined, 50)
  await assert.rejects(api.call({ method: 'GET', path: '/evals' }), ServerAway)
})

test('whoever stops waiting is not kept', async (t) => {
  const { api } = await serverOf(t, hangUp)
  const stop = new AbortController()
  const call = api.call({ method: 'GET', path: '/evals', signal: stop.signal })
  stop.abort()
  await assert.rejects(call, { name: 'AbortError' })
})

test('a file is sent as a form, again from its beginning when it has to be', async (t) => {
  const bodies: string[] = []
  const { api, keys } = await serverOf(t, hangUp, keepBody(bodies))
  const path = fileURLToPath(import.meta.url)
  await api.call({ method: 'POST', path: '/files', form: { path, purpose: 'evals' } })
  assert.equal(new Set(keys).size, 1)
  const [body = ''] = bodies
  const [boundary = ''] = body.split('\r\n')
  assert.match(body, /name="purpose"\r\n\r\nevals\r\n--/)
  const file = readFileSync(path, 'latin1')
  assert.ok(
    body.endsWith(
      `filename="api.test.ts"\r\ncontent-type: application/octet-stream\r\n\r\n${file}\r\n${boundary}--\r\n`,
    ),
  )
})

test('a file that is refused while it is sent is refused with the words of the server', async (t) => {
  const { api } = await serverOf(t, (request, response) => {
    response.writeHead(413, { connection: 'close' }).end('{"error": {"message": "Too large."}}')
    request.once('data', () => response.once('finish', () => request.socket.end()))
  })
  const form = { path: process.execPath, purpose: 'evals' }
  await assert.rejects(api.call({ method: 'POST', path: '/files', form }), /^Error: Too large\./)
})
