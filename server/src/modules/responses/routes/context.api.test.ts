import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compactResponse } from '@switchyard/contracts/responses/operations.ts'
import { functionTool, responsesKit, textIn } from '../testing/responses-kit.ts'

const user = (content: string) => ({ role: 'user', content })
/** About as many tokens as words. */
const words = (count: number) => 'word '.repeat(count)

// S3-9.2-h
test('long contexts are compacted, cut or refused, as was asked', async (t) => {
  const kit = await responsesKit(t)
  const { app, double } = kit

  await t.test('the endpoint gives the user messages and one sealed summary, which a later request reads', async () => {
    double.queue('They like slate.')
    const input = [user('I am Ada.'), { role: 'assistant', content: 'Hello.' }, user('I like slate.')]
    const { status, body, text } = await app.call(compactResponse, { body: { model: 'double-chat', input } })
    assert.equal(status, 200, text)
    assert.deepEqual(
      body.output.map(({ type }) => type),
      ['message', 'message', 'compaction'],
    )
    assert.equal(body.object, 'response.compaction')
    assert.doesNotMatch(text, /They like slate/)
    await kit.create({ input: [...body.output, user('What do I like?')] })
    assert.match(JSON.stringify(kit.told()), /I am Ada\..*I like slate\..*They like slate\..*What do I like\?/)
    assert.doesNotMatch(JSON.stringify(kit.told()), /Hello\./)
    const { id } = await kit.create({ input: 'I am Bob.' })
    double.queue('Bob.')
    const chained = await app.call(compactResponse, { body: { model: 'double-chat', previous_response_id: id } })
    assert.deepEqual(
      chained.body.output.map(({ type }) => type),
      ['message', 'compaction'],
    )
  })

  await t.test('a summary that another project made, or that was changed, opens nothing', async () => {
    double.queue('Secret.')
    const body = { model: 'double-chat', input: 'Hello.' }
    const theirs = await app.call(compactResponse, { body, key: app.other.key })
    const item = theirs.body.output.at(-1)
    assert.ok(item?.type === 'compaction')
    const refused = [400, 'invalid_encrypted_content', 'input']
    assert.deepEqual(await kit.refusal({ input: [item] }), refused)
    const own = (await app.call(compactResponse, { body })).body.output.at(-1)
    assert.ok(own?.type === 'compaction')
    const changed = { ...own, encrypted_content: `${own.encrypted_content.slice(0, -4)}AAAA` }
    assert.deepEqual(await kit.refusal({ input: [changed] }), refused)
    assert.equal((await kit.create({ input: [own, user('Go on.')] })).status, 'completed')
  })

  await t.test('past its threshold a response compacts by itself, and the chain goes on from there', async () => {
    double.queue('A summary.', 'An answer.')
    const context_management = [{ type: 'compaction', compact_threshold: 1_000 }]
    const response = await kit.create({ input: words(2_000), context_management })
    assert.deepEqual(
      response.output.map(({ type }) => type),
      ['compaction', 'message'],
    )
    assert.equal(textIn(response.output[1]), 'An answer.')
    const below = await kit.create({ input: 'Short.', context_management })
    assert.deepEqual(
      below.output.map(({ type }) => type),
      ['message'],
    )
    await kit.create({ input: 'More?', previous_response_id: response.id })
    assert.match(JSON.stringify(kit.told()), /A summary\..*An answer\..*More\?/)
    const low = [{ type: 'compaction', compact_threshold: 999 }]
    const at = 'context_management[0].compact_threshold'
    assert.deepEqual(await kit.refusal({ context_management: low }), [400, 'integer_below_min_value', at])
  })

  await t.test('a trigger at the end forces it, and stands nowhere else', async () => {
    double.queue('Summed up.')
    const trigger = { type: 'compaction_trigger' }
    const { output } = await kit.create({ input: [user('One.'), trigger] })
    assert.equal(output[0]?.type, 'compaction')
    assert.deepEqual(await kit.refusal({ input: [trigger, user('One.')] }), [400, 'invalid_value', 'input[0]'])
  })

  await t.test('what the model cannot read is refused, or its oldest part left out when that was asked', async () => {
    const input = [user(`old ${words(100_000)}`), user(`middle ${words(100_000)}`), user('newest')]
    const disabled = await kit.ask({ input })
    assert.deepEqual(
      [disabled.status, disabled.error?.code, disabled.error?.param],
      [400, 'context_length_exceeded', 'input'],
    )
    const response = await kit.create({ input, truncation: 'auto' })
    assert.equal(response.truncation, 'auto')
    const messages = (kit.told()['messages'] as { content: string }[]).map(({ content }) => content.slice(0, 6))
    assert.deepEqual(messages, ['middle', 'newest'])
    const said = { status: 400, body: { error: { code: 'context_length_exceeded', message: 'Too long.' } } }
    double.queue(said)
    assert.deepEqual(await kit.refusal({}), [400, 'context_length_exceeded', 'input'])
  })

  await t.test('a call does not lose its answer, nor an answer its call, when the context is cut', async () => {
    const input = [
      user(words(100_000)),
      { type: 'function_call', call_id: 'call_1', name: 'look', arguments: words(40_000) },
      { type: 'function_call_output', call_id: 'call_1', output: 'Seen.' },
      user('Go on.'),
    ]
    await kit.create({ input, truncation: 'auto', tools: [functionTool('look')] })
    const roles = (kit.told()['messages'] as { role: string }[]).map(({ role }) => role)
    assert.ok(roles.includes('tool') === roles.includes('assistant'), roles.join(' '))
  })

  await t.test('the limit of output tokens and the filter of a provider leave a response incomplete', async () => {
    double.queue({ text: 'cut off', finish: 'length' }, { text: 'not this', finish: 'content_filter' })
    const long = await kit.create({ max_output_tokens: 16 })
    assert.deepEqual([long.status, long.incomplete_details], ['incomplete', { reason: 'max_output_tokens' }])
    assert.deepEqual([kit.told()['max_tokens'], long.completed_at, long.error], [16, null, null])
    const [item] = long.output
    assert.ok(item?.type === 'message' && item.status === 'incomplete')
    const filtered = await kit.create({})
    assert.deepEqual([filtered.status, filtered.incomplete_details], ['incomplete', { reason: 'content_filter' }])
  })

  await t.test('a model that says nothing is asked once, and has answered', async () => {
    const asked = double.requests.length
    double.queue({ text: '' })
    const { status, output } = await kit.create({})
    assert.deepEqual([status, output.map(textIn).join(''), double.requests.length - asked], ['completed', '', 1])
  })

  await t.test('sealed reasoning comes when asked for, is taken back, and a summary otherwise', async () => {
    double.queue({ reasoning: 'Thinking.', text: 'Four.' }, { reasoning: 'Thinking.', text: 'Four.' })
    const model = 'double-responses'
    const plain = await kit.create({ model, reasoning: { summary: 'auto' } })
    const sealed = await kit.create({ model, include: ['reasoning.encrypted_content'] })
    const [first, second] = [plain.output[0], sealed.output[0]]
    assert.ok(first?.type === 'reasoning' && second?.type === 'reasoning')
    assert.deepEqual(
      [first.summary, first.encrypted_content],
      [[{ type: 'summary_text', text: 'Thinking.' }], undefined],
    )
    assert.ok((second.encrypted_content ?? '').length > 0)
    const next = await kit.create({ model, store: false, input: [user('2+2?'), ...sealed.output, user('And 3+3?')] })
    assert.equal(next.status, 'completed')
  })
})
