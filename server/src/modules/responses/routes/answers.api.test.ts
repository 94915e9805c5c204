import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OutputItem } from '@switchyard/contracts/responses/items.ts'
import { listInputItems } from '@switchyard/contracts/responses/operations.ts'
import { functionTool, responsesKit } from '../testing/responses-kit.ts'

const entry = (stdout: string, outcome: unknown = { type: 'exit', exit_code: 0 }) => ({ stdout, stderr: '', outcome })

// S1-1.1-a S1-2.1-a S1-2.5-a S1-2.5-b S1-2.5-c S1-2.5-d S1-2.5-e S1-2.5-f S1-2.5-g S1-2.5-h S1-2.5-i S1-2.5-j S1-2.5-o S1-2.5-p
// S1-4.1-c S1-4.1-l S1-4.1-p S1-4.1-r S1-3-l
test('calls that the client carries out are answered in the next request', async (t) => {
  const kit = await responsesKit(t)
  const { app, double } = kit
  const shell = { type: 'shell', environment: { type: 'local' } }

  async function called<Type extends OutputItem['type']>(type: Type, tool: object, name: string, args: object) {
    double.queue({ calls: [{ name, arguments: { ...args } }] })
    const response = await kit.create({ tools: [tool] })
    const call = response.output.find((item) => item.type === type)
    assert.ok(call !== undefined, JSON.stringify(response.output))
    return { id: response.id, call: call as Extract<OutputItem, { type: Type }> }
  }
  const shellCall = (more: object = {}) => called('shell_call', shell, 'shell', { commands: ['ls', 'pwd'], ...more })
  const answer = (call_id: string, output: unknown[], more: object = {}) => ({
    type: 'shell_call_output',
    call_id,
    output,
    ...more,
  })

  await t.test('a local shell call waits for its client, and is completed in what is listed after', async () => {
    const { id, call } = await shellCall({ timeout_ms: 5_000, max_output_length: 100 })
    assert.deepEqual(
      [call.status, call.action, call.environment],
      ['in_progress', { commands: ['ls', 'pwd'], timeout_ms: 5_000, max_output_length: 100 }, { type: 'local' }],
    )
    assert.match(call.call_id, /^call_/)
    const output = answer(call.call_id, [entry('a'), entry('/')], { max_output_length: 100 })
    const next = await kit.create({ previous_response_id: id, input: [output], tools: [shell] })
    assert.equal(next.status, 'completed')
    const { body } = await app.call(listInputItems, { params: { response_id: next.id } })
    const [kept] = body.data
    assert.ok(kept?.type === 'shell_call_output')
    assert.deepEqual([kept.status, kept.max_output_length, kept.call_id], ['completed', 100, call.call_id])
    const sent = await kit.create({ input: [{ role: 'user', content: 'ls' }, call, output], tools: [shell] })
    const items = await app.call(listInputItems, { params: { response_id: sent.id }, query: { order: 'asc' } })
    const [, copy] = items.body.data
    assert.ok(copy?.type === 'shell_call' && copy.status === 'completed')
  })

  await t.test('without a time limit of its own a call has ours, as a number', async () => {
    const { call } = await shellCall()
    assert.deepEqual([call.action.timeout_ms, call.action.max_output_length], [120_000, null])
  })

  await t.test('fewer or more entries than commands, and a missing echo of the limit, are taken', async () => {
    for (const output of [[entry('a')], [entry('a'), entry('b'), entry('c')], [entry('a', { type: 'timeout' })]]) {
      const { id, call } = await shellCall({ max_output_length: 10 })
      const input = [answer(call.call_id, output)]
      assert.equal((await kit.create({ previous_response_id: id, input })).status, 'completed')
    }
  })

  await t.test('an answer that fits no call, a call without its answer, and two answers are refused', async () => {
    const { id, call } = await shellCall()
    const good = answer(call.call_id, [entry('a')])
    const refused: [unknown[], RegExp][] = [
      [[answer('call_none', [entry('a')])], /call_none/],
      [[{ role: 'user', content: 'Well?' }], new RegExp(`No tool output found for shell call ${call.call_id}\\.`)],
      [[good, good], new RegExp(`two outputs.*${call.call_id}`)],
      [[{ type: 'function_call_output', call_id: call.call_id, output: 'a' }], new RegExp(call.call_id)],
    ]
    for (const [input, message] of refused) {
      const { status, error } = await kit.ask({ previous_response_id: id, input })
      assert.deepEqual([status, error?.code, error?.param], [400, 'invalid_value', 'input'])
      assert.match(error?.message ?? '', message)
    }
    assert.deepEqual(await kit.refusal({ input: [good] }), [400, 'invalid_value', 'input'])
  })

  await t.test('an exit has a code', async () => {
    const { id, call } = await shellCall()
    const at = 'input[0].output[0].outcome.exit_code'
    for (const [outcome, code] of [
      [{ type: 'exit', exit_code: null }, 'invalid_type'],
      [{ type: 'exit' }, 'missing_required_parameter'],
      [{ type: 'exit', exit_code: 1.5 }, 'invalid_type'],
    ] as const) {
      const input = [answer(call.call_id, [entry('a', outcome)])]
      assert.deepEqual(await kit.refusal({ previous_response_id: id, input }), [400, code, at])
    }
  })

  await t.test('patches, the older local shell, functions and custom tools go the same way', async () => {
    const patch = await called('apply_patch_call', { type: 'apply_patch' }, 'apply_patch', {
      operation: { type: 'create_file', path: 'a.txt', diff: '+a' },
    })
    assert.deepEqual(patch.call.operation, { type: 'create_file', path: 'a.txt', diff: '+a' })
    const local = await called('local_shell_call', { type: 'local_shell' }, 'local_shell', { command: ['ls'] })
    assert.deepEqual(local.call.action.command, ['ls'])
    const look = await called('function_call', functionTool('look'), 'look', { at: 'it' })
    assert.deepEqual([look.call.name, JSON.parse(look.call.arguments)], ['look', { at: 'it' }])
    const say = await called('custom_tool_call', { type: 'custom', name: 'say' }, 'say', { input: 'aloud' })
    assert.deepEqual([say.call.name, say.call.input], ['say', 'aloud'])
    const answers: [string, object][] = [
      [patch.id, { type: 'apply_patch_call_output', call_id: patch.call.call_id, status: 'failed', output: 'no' }],
      [local.id, { type: 'local_shell_call_output', id: local.call.id, output: '{}' }],
      [look.id, { type: 'function_call_output', call_id: look.call.call_id, output: 'Seen.' }],
      [
        say.id,
        { type: 'custom_tool_call_output', call_id: say.call.call_id, output: [{ type: 'input_text', text: 'ok' }] },
      ],
    ]
    for (const [previous_response_id, item] of answers) {
      assert.deepEqual(await kit.refusal({ previous_response_id, input: 'Hm?' }), [400, 'invalid_value', 'input'])
      const next = await kit.create({ previous_response_id, input: [item] })
      assert.equal(next.status, 'completed')
      const more = await kit.create({ previous_response_id: next.id, input: 'And?' })
      assert.equal(more.status, 'completed')
    }
  })
})
