import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exampleOf, isOffered, sweptOperations } from './examples.ts'
import { ask, ownPlace } from './place.ts'
import { sweepApp } from './sweep-app.ts'

test('every operation that is offered answers its example with 200, a reply of its contract and a request id', async (t) => {
  const app = await sweepApp(t)
  const place = ownPlace(app)
  for (const operation of sweptOperations().filter(isOffered)) {
    await t.test(operation.id, async () => {
      const reply = await ask(place, operation, await exampleOf(operation, place))
      assert.equal(reply.status, 200, reply.text)
      assert.match(reply.headers.get('x-request-id') ?? '', /^req_[0-9a-f]{32}$/)
      if (operation.reply === 'binary') return
      assert.match(reply.headers.get('content-type') ?? '', /^application\/json/)
      operation.reply.parse(reply.body)
    })
  }
})
