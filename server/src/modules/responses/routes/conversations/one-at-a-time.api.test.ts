import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  createConversationItems,
  deleteConversation,
  deleteConversationItem,
  updateConversation,
} from '@switchyard/contracts/conversations.ts'
import { cancelResponse, deleteResponse, retrieveResponse } from '@switchyard/contracts/responses/operations.ts'
import { functionTool, responsesKit, textIn } from '../../testing/responses-kit.ts'

const items = [{ type: 'message', role: 'user', content: 'Also this.' }]

test('a conversation takes one response at a time', async (t) => {
  const kit = await responsesKit(t)
  const { app, double } = kit

  await t.test('while one is under way everything that would change it waits, and is told to ask again', async () => {
    const id = await kit.conversation(items)
    const [item] = await kit.said(id)
    const running = await kit.create({ conversation: id, background: true })
    const params = { conversation_id: id, item_id: item?.id ?? '' }
    const replies = [
      await kit.ask({ conversation: id }),
      await kit.ask({ conversation: id, background: true }),
      await kit.ask({ conversation: id, stream: true }),
      await app.call(createConversationItems, { params, body: { items } }),
      await app.call(deleteConversationItem, { params }),
      await app.call(deleteConversation, { params }),
    ]
    for (const { status, error, headers } of replies) {
      assert.deepEqual([status, error?.code], [409, 'conversation_locked'])
      assert.deepEqual([headers.get('x-should-retry'), headers.get('retry-after-ms')], ['true', '500'])
    }
    assert.equal((await app.call(updateConversation, { params, body: { metadata: { a: 'b' } } })).status, 200)
    const { body } = await app.call(cancelResponse, { params: { response_id: running.id } })
    assert.equal(body.status, 'cancelled')
    assert.equal((await kit.create({ conversation: id, input: 'And now?' })).status, 'completed')
    assert.equal((await app.call(deleteConversation, { params })).status, 200)
  })

  await t.test('deleting the response that is under way frees it as well', async () => {
    const id = await kit.conversation()
    const running = await kit.create({ conversation: id, background: true })
    const params = { response_id: running.id }
    assert.deepEqual((await app.call(deleteResponse, { params })).body, {
      id: running.id,
      object: 'response',
      deleted: true,
    })
    assert.equal((await app.call(retrieveResponse, { params })).status, 404)
    assert.equal((await kit.create({ conversation: id })).status, 'completed')
  })

  await t.test(
    'what was asked and answered is added when it completes; of one that failed, only what was asked',
    async () => {
      const id = await kit.conversation(items)
      double.queue('Good.', { status: 400 })
      await kit.create({ conversation: id, input: 'How are you?' })
      assert.deepEqual((await kit.said(id)).map(textIn), ['Also this.', 'How are you?', 'Good.'])
      assert.match(JSON.stringify(kit.told()), /Also this\..*How are you\?/)
      assert.equal((await kit.ask({ conversation: id, input: 'Fail.' })).status, 502)
      assert.deepEqual((await kit.said(id)).map(textIn), ['Also this.', 'How are you?', 'Good.', 'Fail.'])
      double.queue({ text: 'Cut', finish: 'length' })
      const { status } = await kit.create({ conversation: id, input: 'Long.' })
      assert.equal(status, 'incomplete')
      assert.deepEqual((await kit.said(id)).map(textIn).slice(-2), ['Long.', 'Cut'])
    },
  )

  await t.test('an item that is named again stays where it is', async () => {
    const id = await kit.conversation(items)
    const [first] = await kit.said(id)
    await kit.create({
      conversation: id,
      input: [{ type: 'item_reference', id: (await kit.create({})).output[0]?.id }],
    })
    const named = { type: 'message', role: 'user', id: 'msg_again', content: 'Again.' }
    await kit.create({ conversation: id, input: [named] })
    await kit.create({ conversation: id, input: [named, { role: 'user', content: 'And?' }] })
    const said = await kit.said(id)
    assert.equal(said[0]?.id, first?.id)
    assert.equal(said.filter((item) => item.id === 'msg_again').length, 1)
  })

  await t.test('a call that was made in it must be answered in it', async () => {
    const id = await kit.conversation()
    double.queue({ calls: [{ name: 'look', arguments: {} }] })
    const { output } = await kit.create({ conversation: id, tools: [functionTool('look')] })
    const [call] = output
    assert.ok(call?.type === 'function_call')
    assert.deepEqual(await kit.refusal({ conversation: id, input: 'Well?' }), [400, 'invalid_value', 'input'])
    const answer = { type: 'function_call_output', call_id: call.call_id, output: 'Seen.' }
    assert.equal((await kit.create({ conversation: id, input: [answer] })).status, 'completed')
  })

  await t.test('of several at once one begins, and none begins in a conversation that goes', async () => {
    for (let round = 0; round < 4; round += 1) {
      const id = await kit.conversation(items)
      const asked = [1, 2, 3].map((n) => kit.ask({ conversation: id, background: true, input: `${n}` }))
      const replies = await Promise.all(asked)
      assert.deepEqual(
        replies.map(({ status }) => status).toSorted((a, b) => a - b),
        [200, 409, 409],
      )
      const other = await kit.conversation(items)
      const params = { conversation_id: other }
      const [gone, begun] = await Promise.all([
        app.call(deleteConversation, { params }),
        kit.ask({ conversation: other, background: true }),
      ])
      assert.ok((gone.status === 200) !== (begun.status === 200), `${gone.text} ${begun.text}`)
    }
  })

  await t.test('a response knows every item that was added before it', async () => {
    const id = await kit.conversation()
    const params = { conversation_id: id }
    const add = (n: number) =>
      app.call(createConversationItems, { params, body: { items: [{ ...items[0], content: `added ${n}` }] } })
    const replies = await Promise.all(
      Array.from({ length: 12 }, (_, n) => (n % 3 === 0 ? kit.ask({ conversation: id, input: `asked ${n}` }) : add(n))),
    )
    assert.ok(replies.every(({ status }) => status === 200 || status === 409))
    const said = (await kit.said(id)).map(textIn)
    for (const { body } of double.requests.slice(-4)) {
      const messages = (body['messages'] as { role: string; content: string }[]).map(({ content }) => content)
      const own = said.indexOf(messages.at(-1) ?? '')
      if (messages.at(-1)?.startsWith('asked') === true) assert.deepEqual(messages, said.slice(0, own + 1))
    }
  })
})
