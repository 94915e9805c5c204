import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  createConversation,
  createConversationItems,
  deleteConversation,
  deleteConversationItem,
  listConversationItems,
  retrieveConversation,
  retrieveConversationItem,
  updateConversation,
} from '@switchyard/contracts/conversations.ts'
import { retrieveResponse } from '@switchyard/contracts/responses/operations.ts'
import { responsesKit, textIn } from '../../testing/responses-kit.ts'

const message = (text: string) => ({ type: 'message', role: 'user', content: text })
const localCall = {
  type: 'local_shell_call',
  id: 'lsh_mine',
  call_id: 'call_mine',
  status: 'completed',
  action: { type: 'exec', command: ['ls'], env: {} },
}

// S3-9.2-j
test('conversations keep what is said in them', async (t) => {
  const kit = await responsesKit(t)
  const { app } = kit

  await t.test('one is made, read, changed and deleted, and its responses stay', async () => {
    const made = await app.call(createConversation, { body: { metadata: { topic: 'ships' } } })
    assert.deepEqual(Object.keys(made.body), ['id', 'object', 'created_at', 'metadata'])
    assert.match(made.body.id, /^conv_[0-9a-z]{26}$/)
    const params = { conversation_id: made.body.id }
    assert.deepEqual((await app.call(retrieveConversation, { params })).body, made.body)
    const changed = await app.call(updateConversation, { params, body: { metadata: { topic: 'boats' } } })
    assert.deepEqual(changed.body, { ...made.body, metadata: { topic: 'boats' } })
    assert.deepEqual((await app.call(updateConversation, { params, body: { metadata: null } })).body.metadata, {})
    const response = await kit.create({ conversation: { id: made.body.id } })
    assert.deepEqual(response.conversation, { id: made.body.id })
    const gone = await app.call(deleteConversation, { params })
    assert.deepEqual(gone.body, { id: made.body.id, object: 'conversation.deleted', deleted: true })
    assert.equal((await app.call(retrieveConversation, { params })).status, 404)
    assert.equal((await app.call(listConversationItems, { params })).status, 404)
    assert.equal((await app.call(retrieveResponse, { params: { response_id: response.id } })).status, 200)
    assert.deepEqual(await kit.refusal({ conversation: made.body.id }), [404, 'not_found', 'conversation'])
  })

  await t.test('no body at all is an empty conversation', async () => {
    const { status, body } = await app.call(createConversation)
    assert.deepEqual([status, body.metadata], [200, {}])
    assert.deepEqual(await kit.said(body.id), [])
  })

  await t.test('items are paged in both orders, each once, and read one by one', async () => {
    const words = ['one', 'two', 'three', 'four', 'five']
    const id = await kit.conversation(words.slice(0, 2).map(message))
    const params = { conversation_id: id }
    const added = await app.call(createConversationItems, { params, body: { items: words.slice(2).map(message) } })
    assert.deepEqual(added.body.data.map(textIn), ['three', 'four', 'five'])
    assert.deepEqual([added.body.first_id, added.body.has_more], [added.body.data[0]?.id, false])
    for (const order of ['asc', 'desc']) {
      const seen: string[] = []
      let after: string | null = null
      do {
        const query: Record<string, string> = { limit: '2', order, ...(after === null ? {} : { after }) }
        const { body } = await app.call(listConversationItems, { params, query })
        seen.push(...body.data.map(textIn))
        after = body.has_more ? body.last_id : null
      } while (after !== null)
      assert.deepEqual(seen, order === 'asc' ? words : words.toReversed())
    }
    const [newest] = (
      await app.call(listConversationItems, { params, query: { include: ['reasoning.encrypted_content'] } })
    ).body.data
    assert.equal(textIn(newest), 'five')
    const itemParams = { ...params, item_id: newest?.id ?? '' }
    assert.deepEqual((await app.call(retrieveConversationItem, { params: itemParams })).body, newest)
    assert.equal((await app.call(deleteConversationItem, { params: itemParams })).body.id, id)
    assert.equal((await app.call(retrieveConversationItem, { params: itemParams })).status, 404)
    assert.deepEqual((await kit.said(id)).map(textIn), words.slice(0, 4))
    const odd = await app.call(listConversationItems, { params, query: { after: 'msg_none' } })
    assert.deepEqual([odd.status, odd.error.code, odd.error.param], [400, 'invalid_value', 'after'])
  })

  await t.test('twenty items go at once and no more; one id stands for one item', async () => {
    const twenty = Array.from({ length: 20 }, (_, index) => message(`${index}`))
    const id = await kit.conversation(twenty)
    assert.equal((await kit.said(id)).length, 20)
    const tooMany = await app.call(createConversation, { body: { items: [...twenty, message('x')] } })
    assert.deepEqual([tooMany.error.code, tooMany.error.param], ['array_above_max_length', 'items'])
    const named = { ...message('a'), id: 'msg_mine' }
    const twice = await app.call(createConversation, { body: { items: [named, named] } })
    assert.deepEqual([twice.error.code, twice.error.param], ['invalid_value', 'items[1].id'])
    const params = { conversation_id: id }
    assert.equal((await app.call(createConversationItems, { params, body: { items: [named] } })).status, 200)
    const again = await app.call(createConversationItems, { params, body: { items: [message('b'), named] } })
    assert.deepEqual([again.error.code, again.error.param], ['invalid_value', 'items[1].id'])
    assert.equal((await kit.said(id)).length, 21)
    const trigger = await app.call(createConversationItems, {
      params,
      body: { items: [{ type: 'compaction_trigger' }] },
    })
    assert.deepEqual([trigger.error.code, trigger.error.param], ['invalid_value', 'items[0].type'])
  })

  await t.test('metadata has sixteen pairs at most, of bounded length', async () => {
    const pairs = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`k${n}`, 'v']))
    assert.equal((await app.call(createConversation, { body: { metadata: pairs(16) } })).status, 200)
    for (const metadata of [pairs(17), { ['k'.repeat(65)]: 'v' }, { k: 'v'.repeat(513) }, { k: 1 }]) {
      const { status, error } = await app.call(createConversation, { body: { metadata } })
      assert.deepEqual([status, error.param?.startsWith('metadata')], [400, true])
    }
  })

  await t.test('the answer of a local shell does not take the place of its call', async () => {
    const id = await kit.conversation([localCall])
    const answer = { type: 'local_shell_call_output', id: 'lsh_mine', output: '{"stdout":"a"}' }
    const params = { conversation_id: id }
    const added = await app.call(createConversationItems, { params, body: { items: [answer] } })
    assert.equal(added.status, 200, added.text)
    assert.deepEqual(
      (await kit.said(id)).map((item) => [item.type, item.id]),
      [
        ['local_shell_call', 'lsh_mine'],
        ['local_shell_call_output', 'call_mine'],
      ],
    )
    assert.equal((await kit.create({ conversation: id, input: 'And?' })).status, 'completed')
  })
})
