/** What the Open Responses compliance suite asks of a WebSocket, said again as tests of our own. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compactResponse } from '@switchyard/contracts/responses/operations.ts'
import { Response } from '@switchyard/contracts/responses/response.ts'
import { testApp } from '../../../../test/test-app.ts'
import { SocketClient, textOf } from '../testing/socket-client.ts'

test('websocket response: a create ends in a whole response', async (t) => {
  const app = await testApp(t)
  const client = await SocketClient.open(t, app)
  const last = await client.ask({ input: 'Say hello.', store: false })
  assert.equal(last.type, 'response.completed')
  const response = Response.parse(last.response)
  assert.deepEqual([response.status, response.output.length, textOf(last)], ['completed', 1, 'Say hello.'])
})

test('websocket sequential responses: one connection takes one create after the other', async (t) => {
  const app = await testApp(t)
  const client = await SocketClient.open(t, app)
  const first = await client.ask({ input: 'one', store: false })
  const second = await client.ask({ input: 'two', store: false })
  assert.deepEqual([textOf(first), textOf(second)], ['one', 'two'])
  assert.notEqual(first.response?.id, second.response?.id)
})

test('websocket continuation: a response that is not stored is continued on its connection', async (t) => {
  const app = await testApp(t)
  const client = await SocketClient.open(t, app)
  const first = await client.ask({ input: 'Remember copper.', store: false })
  const second = await client.ask({ input: 'Which?', store: false, previous_response_id: first.response?.id })
  assert.equal(second.response?.previous_response_id, first.response?.id)
  assert.match(JSON.stringify(app.double.requests.at(-1)?.body), /Remember copper/)
})

test('websocket store: false recovery: after a reconnect the chain is gone, and begins anew with all of it', async (t) => {
  const app = await testApp(t)
  const before = await SocketClient.open(t, app)
  const first = await before.ask({ input: 'Remember copper.', store: false })
  before.socket.close()
  await before.closed
  const after = await SocketClient.open(t, app)
  const lost = await after.ask({ input: 'Which?', store: false, previous_response_id: first.response?.id })
  assert.deepEqual([lost.type, lost.status, lost.error?.code], ['error', 400, 'previous_response_not_found'])
  const again = await after.ask({ input: [{ role: 'user', content: 'Remember copper. Which?' }], store: false })
  assert.equal(again.type, 'response.completed')
})

test('websocket previous response not found: the error says so and the connection goes on', async (t) => {
  const app = await testApp(t)
  const client = await SocketClient.open(t, app)
  const lost = await client.ask({ input: 'x', store: false, previous_response_id: 'resp_missing' })
  assert.deepEqual(
    [lost.type, lost.status, lost.error?.type, lost.error?.code, lost.error?.param],
    ['error', 400, 'invalid_request_error', 'previous_response_not_found', 'previous_response_id'],
  )
  assert.equal((await client.ask({ input: 'y', store: false })).type, 'response.completed')
})

test('websocket failed continuation: what it continued from is not kept any longer', async (t) => {
  const app = await testApp(t)
  const client = await SocketClient.open(t, app)
  const first = await client.ask({ input: 'Remember ember.', store: false })
  const previous = { previous_response_id: first.response?.id, store: false }
  const stray = [{ type: 'function_call_output', call_id: 'call_none', output: 'x' }]
  const failed = await client.ask({ ...previous, input: stray })
  assert.deepEqual([failed.type, failed.status], ['error', 400])
  const gone = await client.ask({ ...previous, input: 'Which?' })
  assert.equal(gone.error?.code, 'previous_response_not_found')

  const second = await client.ask({ input: 'Remember flint.', store: false })
  app.double.queue({ status: 400 })
  const broken = await client.ask({ input: 'x', store: false, previous_response_id: second.response?.id })
  assert.equal(broken.type, 'response.failed')
  const goneToo = await client.ask({ input: 'Which?', store: false, previous_response_id: second.response?.id })
  assert.equal(goneToo.error?.code, 'previous_response_not_found')
})

test('websocket compact: what a compaction gave begins a new chain', async (t) => {
  const app = await testApp(t)
  const client = await SocketClient.open(t, app)
  app.double.queue('They spoke of slate.')
  const compacted = await app.call(compactResponse, {
    body: { model: 'double-chat', input: [{ role: 'user', content: 'Remember slate.' }] },
  })
  assert.equal(compacted.status, 200)
  const input = [...compacted.body.output, { type: 'message', role: 'user', content: 'Which?' }]
  const next = await client.ask({ input, store: false })
  assert.equal(next.type, 'response.completed')
  assert.match(JSON.stringify(app.double.requests.at(-1)?.body), /They spoke of slate/)
})
