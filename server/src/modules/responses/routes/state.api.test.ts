import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  cancelResponse,
  countInputTokens,
  deleteResponse,
  listInputItems,
  retrieveResponse,
} from '@switchyard/contracts/responses/operations.ts'
import { responsesKit, textIn } from '../testing/responses-kit.ts'

// S1-4.1-a S1-4.1-b S1-4.1-d S1-4.1-g S1-4.1-h S1-4.1-j
test('responses are kept and continued', async (t) => {
  const kit = await responsesKit(t)
  const { app, double } = kit

  await t.test('a stored response reads as it was answered, with all that was asked', async () => {
    const response = await kit.create({
      instructions: 'Be brief.',
      metadata: { a: 'b' },
      temperature: 0.5,
      include: [],
      safety_identifier: 'someone',
      prompt_cache_key: 'key',
      service_tier: 'auto',
    })
    const { body } = await app.call(retrieveResponse, { params: { response_id: response.id }, query: { include: [] } })
    assert.deepEqual(body, response)
    assert.match(response.id, /^resp_[0-9a-z]{26}$/)
    assert.deepEqual(
      [response.status, response.instructions, response.metadata, response.temperature, response.top_p],
      ['completed', 'Be brief.', { a: 'b' }, 0.5, 1],
    )
    assert.deepEqual(
      [response.store, response.background, response.error, response.service_tier, response.truncation],
      [true, false, null, 'default', 'disabled'],
    )
    assert.ok(response.completed_at !== null && response.completed_at >= response.created_at)
    assert.equal((kit.told()['messages'] as { content: string }[])[0]?.content, 'Be brief.')
  })

  await t.test('with store off nothing of it can be found again', async () => {
    const { id, output } = await kit.create({ store: false })
    const params = { response_id: id }
    for (const operation of [retrieveResponse, deleteResponse, listInputItems, cancelResponse]) {
      const reply = await app.call(operation, { params })
      assert.deepEqual([reply.status, reply.error.code, reply.error.param], [404, 'not_found', 'response_id'])
    }
    const missing = [400, 'previous_response_not_found', 'previous_response_id']
    assert.deepEqual(await kit.refusal({ previous_response_id: id }), missing)
    const reference = { type: 'item_reference', id: output[0]?.id }
    assert.deepEqual(await kit.refusal({ input: [reference] }), [404, 'not_found', 'input[0].id'])
    const conversation = await kit.conversation()
    assert.deepEqual(await kit.refusal({ store: false, conversation }), [400, 'invalid_value', 'store'])
    assert.deepEqual(await kit.refusal({ store: false, background: true }), [400, 'invalid_value', 'store'])
  })

  await t.test('a chain carries what was said, and never the instructions of before', async () => {
    double.queue('First.', 'Second.')
    const first = await kit.create({ input: 'One?', instructions: 'Speak Latin.' })
    const second = await kit.create({ input: 'Two?', previous_response_id: first.id })
    const third = await kit.create({ input: 'Three?', previous_response_id: second.id })
    const messages = (kit.told()['messages'] as { content: string }[]).map(({ content }) => content)
    assert.deepEqual(messages, ['One?', 'First.', 'Two?', 'Second.', 'Three?'])
    assert.deepEqual([third.previous_response_id, third.instructions], [second.id, null])
    const { body } = await app.call(listInputItems, { params: { response_id: third.id } })
    assert.deepEqual(body.data.map(textIn), ['Three?'])
    const again = await kit.create({ previous_response_id: first.id, input: [{ id: second.output[0]?.id }] })
    assert.equal(again.status, 'completed')
    const foreign = await kit.refusal({ previous_response_id: first.id }, { key: app.other.key })
    assert.deepEqual(foreign, [400, 'previous_response_not_found', 'previous_response_id'])
  })

  await t.test('a response that runs cannot be continued, and a deleted one is gone from the chain', async () => {
    const { id } = await kit.create({ background: true })
    assert.deepEqual(await kit.refusal({ previous_response_id: id }), [400, 'invalid_value', 'previous_response_id'])
    const done = await kit.create({})
    await app.call(deleteResponse, { params: { response_id: done.id } })
    const refusal = await kit.refusal({ previous_response_id: done.id })
    assert.deepEqual(refusal, [400, 'previous_response_not_found', 'previous_response_id'])
  })

  await t.test('input items are paged in both orders, and keep what they were', async () => {
    const words = ['one', 'two', 'three']
    const { id } = await kit.create({ input: words.map((content) => ({ role: 'user', content })) })
    const params = { response_id: id }
    const first = await app.call(listInputItems, { params, query: { limit: 2 } })
    assert.deepEqual([first.body.data.map(textIn), first.body.has_more], [['three', 'two'], true])
    const query = { limit: 2, after: first.body.last_id ?? '' }
    const rest = await app.call(listInputItems, { params, query })
    assert.deepEqual([rest.body.data.map(textIn), rest.body.has_more], [['one'], false])
    assert.deepEqual((await app.call(listInputItems, { params, query: { order: 'asc' } })).body.data.map(textIn), words)
    const odd = await app.call(listInputItems, { params, query: { after: 'msg_none' } })
    assert.deepEqual([odd.status, odd.error.code, odd.error.param], [400, 'invalid_value', 'after'])
  })

  await t.test('a queued response is cancelled once and stays cancelled', async () => {
    const queued = await kit.create({ background: true })
    assert.deepEqual([queued.status, queued.output, queued.usage], ['queued', [], null])
    const params = { response_id: queued.id }
    for (let round = 0; round < 2; round += 1) {
      const { body } = await app.call(cancelResponse, { params })
      assert.deepEqual([body.status, body.completed_at], ['cancelled', null])
    }
  })

  await t.test('what excludes each other, or is missing, is refused by name', async () => {
    const refusals: [Record<string, unknown>, string, string][] = [
      [{ previous_response_id: 'resp_a', conversation: 'conv_a' }, 'mutually_exclusive_parameters', 'conversation'],
      [{ model: undefined }, 'missing_required_parameter', 'model'],
      [{ input: undefined }, 'missing_required_parameter', 'input'],
      [{ prompt: { id: 'pmpt_a' } }, 'unknown_parameter', 'prompt'],
      [{ metadata: { a: 'b'.repeat(513) } }, 'string_above_max_length', 'metadata.a'],
      [{ max_output_tokens: 15 }, 'integer_below_min_value', 'max_output_tokens'],
      [{ temperature: 2.1 }, 'integer_above_max_value', 'temperature'],
      [{ top_logprobs: 21 }, 'integer_above_max_value', 'top_logprobs'],
      [{ include: ['nothing'] }, 'invalid_value', 'include[0]'],
      [{ input: 5 }, 'invalid_type', 'input'],
      [{ input: [{ type: 'dance' }] }, 'invalid_value', 'input[0].type'],
      [{ input: [{ role: 'user' }] }, 'missing_required_parameter', 'input[0].content'],
      [{ input: [{ role: 'king', content: 'a' }] }, 'invalid_value', 'input[0].role'],
      [{ safety_identifier: 'a'.repeat(129) }, 'string_above_max_length', 'safety_identifier'],
      [
        { input: ['a', 'b'].map((content) => ({ role: 'user', id: 'msg_1', content })) },
        'invalid_value',
        'input[1].id',
      ],
      [{ truncation: 'perhaps' }, 'invalid_value', 'truncation'],
    ]
    for (const [body, code, param] of refusals) assert.deepEqual(await kit.refusal(body), [400, code, param])
    const both = { input: 'a', previous_response_id: 'resp_a', conversation: 'conv_a' }
    const counted = await app.call(countInputTokens, { body: both })
    assert.equal(counted.error.code, 'mutually_exclusive_parameters')
    const { body } = await app.call(countInputTokens, { body: { model: 'double-chat', input: 'Hello there.' } })
    assert.ok(body.input_tokens > 1 && body.input_tokens < 50)
  })

  await t.test('a stream cannot be repeated, so it takes no Idempotency-Key', async () => {
    const reply = await kit.refusal({ stream: true }, { headers: { 'idempotency-key': 'a' } })
    assert.deepEqual(reply, [400, 'unsupported_value', 'stream'])
  })
})
