import assert from 'node:assert/strict'
import { test } from 'node:test'
import { becomesTrue } from '../../../../../dev/engines/wait-until.ts'
import { testApp } from '../../../../test/test-app.ts'

const recordedWithinMs = 10_000
const chat = { messages: [{ role: 'user', content: 'Hello, provider.' }] }
const text = { prompt: 'Hello, provider.' }

const cases = [
  { name: 'a chat completion', path: 'chat/completions', model: 'double-chat', body: chat },
  { name: 'a chat stream', path: 'chat/completions', model: 'double-chat', body: { ...chat, stream: true } },
  {
    name: 'a chat stream of another wire',
    path: 'chat/completions',
    model: 'double-anthropic',
    body: { ...chat, stream: true },
  },
  { name: 'a text completion', path: 'completions', model: 'double-chat', body: text },
  { name: 'a text stream', path: 'completions', model: 'double-chat', body: { ...text, stream: true } },
]

test('a client that leaves before the first word is recorded as interrupted, with its input', async (t) => {
  const app = await testApp(t)
  app.double.decide(() => ({ text: 'never said', trouble: 'hang' }))
  for (const { name, path, model, body } of cases) {
    await t.test(name, async () => {
      const leaving = new AbortController()
      const before = app.double.requests.length
      const asking = fetch(`${app.baseUrl}/v1/${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${app.project.key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model, ...body }),
        signal: leaving.signal,
      }).then((reply) => reply.text())
      assert.ok(await becomesTrue(() => app.double.requests.length > before, recordedWithinMs))
      leaving.abort()
      await assert.rejects(asking, { name: 'AbortError' })
      const rows = () =>
        app.db.kysely
          .withTables<{ 'limits.usage': { outcome: string; input_tokens: number; output_tokens: number } }>()
          .selectFrom('limits.usage')
          .select(['outcome', 'input_tokens', 'output_tokens'])
          .execute()
      const wanted = 1 + cases.findIndex((one) => one.name === name)
      assert.ok(await becomesTrue(async () => (await rows()).length >= wanted, recordedWithinMs))
      const all = await rows()
      assert.equal(all.length, wanted)
      for (const { outcome, input_tokens: input, output_tokens: output } of all) {
        assert.deepEqual([outcome, output], ['interrupted', 0])
        assert.ok(input > 0)
      }
    })
  }
})
