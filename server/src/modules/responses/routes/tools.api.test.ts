import assert from 'node:assert/strict'
import { test } from 'node:test'
import { functionTool, responsesKit, textIn } from '../testing/responses-kit.ts'

const call = (name: string) => ({ calls: [{ name, arguments: {} }] })
const look = functionTool('look')
const say = { type: 'custom', name: 'say' }
const shell = { type: 'shell' }

// S1-2.1-a S1-2.1-f S1-4.1-c S1-4.1-e S1-4.1-f
test('tools reach the model as they were declared', async (t) => {
  const kit = await responsesKit(t)
  const { double } = kit
  const names = () =>
    ((kit.told()['tools'] ?? []) as { function: { name: string } }[]).map((tool) => tool.function.name)

  await t.test('every form of tool_choice is passed on and echoed', async () => {
    const tools = [look, say, shell]
    const forms: [unknown, unknown, string[]][] = [
      ['auto', undefined, ['look', 'say', 'shell']],
      ['none', 'none', ['look', 'say', 'shell']],
      ['required', 'required', ['look', 'say', 'shell']],
      [{ type: 'function', name: 'look' }, { type: 'function', function: { name: 'look' } }, ['look', 'say', 'shell']],
      [{ type: 'custom', name: 'say' }, { type: 'function', function: { name: 'say' } }, ['look', 'say', 'shell']],
      [{ type: 'shell' }, { type: 'function', function: { name: 'shell' } }, ['look', 'say', 'shell']],
      [{ type: 'allowed_tools', mode: 'required', tools: [{ type: 'custom', name: 'say' }] }, 'required', ['say']],
      [{ type: 'allowed_tools', mode: 'auto', tools: [{ type: 'shell' }] }, undefined, ['shell']],
    ]
    for (const [tool_choice, told, offered] of forms) {
      double.queue(tool_choice === 'none' ? 'No.' : { calls: [{ name: 'say', arguments: { input: 'a' } }] })
      const response = await kit.create({ tools, tool_choice })
      assert.deepEqual(response.tool_choice, tool_choice)
      assert.deepEqual([kit.told()['tool_choice'], names()], [told, offered], JSON.stringify(tool_choice))
    }
  })

  await t.test('a choice among tools that are not there is refused', async () => {
    for (const tool_choice of [
      'required',
      { type: 'function', name: 'none' },
      { type: 'apply_patch' },
      { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'shell' }, { type: 'apply_patch' }] },
    ]) {
      const tools = tool_choice === 'required' ? [] : [shell]
      assert.deepEqual(await kit.refusal({ tools, tool_choice }), [400, 'invalid_value', 'tool_choice'])
    }
  })

  await t.test('a model that ignores what is required is asked once more, and then the response fails', async () => {
    const body = { tools: [look], tool_choice: 'required' }
    double.queue('I would rather talk.', call('look'))
    const before = double.requests.length
    const mended = await kit.create(body)
    assert.equal(double.requests.length - before, 2)
    assert.deepEqual(
      mended.output.map(({ type }) => type),
      ['function_call'],
    )
    for (const stream of [false, true]) {
      double.queue('No.', 'No again.')
      const reply = await kit.ask({ ...body, stream })
      assert.equal(reply.status, 200, reply.text)
      assert.match(reply.text, /"status":"failed".*tool_choice demands a tool call/)
      assert.doesNotMatch(reply.text, /No again/)
    }
  })

  await t.test('two tools of one name, and two shells, are refused', async () => {
    assert.deepEqual(await kit.refusal({ tools: [look, look] }), [400, 'duplicate_tool', 'tools[1]'])
    assert.deepEqual(await kit.refusal({ tools: [shell, look, shell] }), [400, 'duplicate_tool', 'tools[2]'])
  })

  await t.test('without a sandbox host a hosted shell is refused, not promised', async () => {
    const hosted = { type: 'shell', environment: { type: 'container_auto' } }
    assert.deepEqual(await kit.refusal({ tools: [hosted] }), [503, 'server_overloaded', null])
  })

  await t.test('tools that live elsewhere are refused by name, and unknown ones as unknown', async () => {
    for (const type of ['web_search', 'file_search', 'code_interpreter', 'mcp', 'computer', 'image_generation']) {
      const { status, error } = await kit.ask({ tools: [look, { type, anything: 1 }] })
      assert.deepEqual([status, error?.code, error?.param], [400, 'unsupported_tool', 'tools[1].type'])
      assert.match(error?.message ?? '', new RegExp(type))
    }
    assert.deepEqual(await kit.refusal({ tools: [{ type: 'dance' }] }), [400, 'invalid_value', 'tools[0].type'])
    assert.deepEqual(await kit.refusal({ tools: [{ ...look, colour: 'red' }] }), [
      400,
      'unknown_parameter',
      'tools[0].colour',
    ])
    assert.deepEqual(await kit.refusal({ tools: [{ type: 'function', name: 'a b' }] }), [
      400,
      'invalid_value',
      'tools[0].name',
    ])
  })

  await t.test('a shell without an environment is the local one, and its skills are told to the model', async () => {
    const skills = [{ name: 'sums', description: 'Adds up.', path: '/skills/sums' }]
    double.queue({ calls: [{ name: 'shell', arguments: { commands: ['ls'] } }] })
    const { output, tools } = await kit.create({ tools: [{ type: 'shell', environment: { type: 'local', skills } }] })
    assert.deepEqual(tools, [{ type: 'shell', environment: { type: 'local', skills } }])
    assert.match(JSON.stringify(kit.told()), /sums.*\/skills\/sums.*Adds up\./)
    assert.deepEqual(
      output.map(({ type }) => type),
      ['shell_call'],
    )
  })

  await t.test('the form of the answer is passed on to every kind of provider', async () => {
    const schema = {
      type: 'object',
      properties: { a: { type: 'string' } },
      required: ['a'],
      additionalProperties: false,
    }
    const format = { type: 'json_schema', name: 'thing', schema, strict: true }
    for (const model of ['double-chat', 'double-responses', 'double-anthropic']) {
      double.queue('{"a":"b"}')
      const response = await kit.create({ model, text: { format } })
      assert.deepEqual([response.text.format, textIn(response.output[0])], [format, '{"a":"b"}'])
      assert.match(JSON.stringify(kit.told()), /"properties":\{"a":\{"type":"string"/)
    }
    double.queue('{}')
    const { text } = await kit.create({ text: { format: { type: 'json_object' }, verbosity: 'low' } })
    assert.deepEqual(text, { format: { type: 'json_object' }, verbosity: 'low' })
    assert.deepEqual([kit.told()['response_format'], kit.told()['verbosity']], [{ type: 'json_object' }, 'low'])
    const nameless = { type: 'json_schema', schema }
    assert.deepEqual(await kit.refusal({ text: { format: nameless } }), [
      400,
      'missing_required_parameter',
      'text.format.name',
    ])
  })

  await t.test('calls in parallel are switched off when asked, and several of them are several items', async () => {
    double.queue({ calls: [...call('look').calls, { name: 'look', arguments: { n: 2 }, id: 'call_b' }] })
    const { output, parallel_tool_calls } = await kit.create({ tools: [look], parallel_tool_calls: false })
    assert.deepEqual([kit.told()['parallel_tool_calls'], parallel_tool_calls], [false, false])
    const ids = output.map((item) => (item.type === 'function_call' ? item.call_id : ''))
    assert.equal(new Set(ids).size, 2)
  })
})
