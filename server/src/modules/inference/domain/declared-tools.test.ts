import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DeclaredTools } from './declared-tools.ts'
import { toolCallOf } from './tool-call.ts'

test('a function may be called shell: the shell gets another name, and both find back', () => {
  const tools = new DeclaredTools([
    { type: 'shell' },
    { type: 'function', name: 'shell' },
    { type: 'function', name: 'shell_2' },
  ])
  assert.deepEqual(
    tools.functions.map(({ name }) => name),
    ['shell_3', 'shell', 'shell_2'],
  )
  assert.deepEqual(tools.refOf('shell'), { type: 'function', name: 'shell' })
  assert.deepEqual(tools.refOf('shell_3'), { type: 'shell' })
  assert.equal(tools.nameOf({ type: 'shell' }), 'shell_3')
})

test('a local shell tells the model its skills', () => {
  const skills = [{ name: 'charts', description: 'Draws charts.', path: '/skills/charts' }]
  const [shell] = new DeclaredTools([{ type: 'shell', environment: { type: 'local', skills } }]).functions
  assert.match(shell?.description ?? '', /charts \(\/skills\/charts\): Draws charts\./)
})

test('a hosted shell tells the model placeholders, never a secret', () => {
  const policy = {
    type: 'allowlist' as const,
    allowed_domains: ['api.example.com'],
    domain_secrets: [{ domain: 'api.example.com', name: 'API_KEY', value: 'top-secret' }],
  }
  const tools = new DeclaredTools([{ type: 'shell', environment: { type: 'container_auto', network_policy: policy } }])
  const text = JSON.stringify(tools.functions)
  assert.match(text, /\$API_KEY/)
  assert.match(text, /api\.example\.com/)
  assert.doesNotMatch(text, /top-secret/)
})

test('a custom tool becomes a function of one text, with its grammar told', () => {
  const format = { type: 'grammar' as const, syntax: 'regex' as const, definition: '[0-9]+' }
  const tools = new DeclaredTools([{ type: 'custom', name: 'count', format }])
  assert.match(tools.functions[0]?.description ?? '', /\[0-9\]\+/)
  const ref = tools.refOf('count')
  assert.deepEqual(toolCallOf(ref, '{"input":"42"}'), { type: 'custom', name: 'count', input: '42' })
  assert.deepEqual(toolCallOf(ref, 'just 42'), { type: 'custom', name: 'count', input: 'just 42' })
})

const unusable: [Parameters<typeof toolCallOf>[0], string, RegExp][] = [
  [{ type: 'shell' }, 'ls', /not JSON/],
  [{ type: 'shell' }, '[]', /no object/],
  [{ type: 'shell' }, '{"commands":[]}', /commands must be a list/],
  [{ type: 'shell' }, '{"commands":["ls"],"timeout_ms":-1}', /timeout_ms/],
  [{ type: 'apply_patch' }, '{"operation":{"type":"move","path":"a"}}', /operation.type/],
  [{ type: 'apply_patch' }, '{"operation":{"type":"create_file","path":"a"}}', /operation.diff/],
  [{ type: 'local_shell' }, '{"command":["ls"],"env":{"A":1}}', /env/],
]
for (const [tool, text, says] of unusable) {
  test(`arguments that cannot be carried out are malformed: ${tool.type} ${text}`, () => {
    assert.throws(() => toolCallOf(tool, text), { name: 'ProviderFault', kind: 'malformed', message: says })
  })
}

test('a patch and a local shell call come back as they were asked', () => {
  const patch = { type: 'update_file', path: 'a.txt', diff: '@@' } as const
  assert.deepEqual(toolCallOf({ type: 'apply_patch' }, JSON.stringify({ operation: patch })), {
    type: 'apply_patch',
    operation: patch,
  })
  assert.deepEqual(toolCallOf({ type: 'local_shell' }, '{"command":["ls","-l"],"working_directory":"/tmp"}'), {
    type: 'local_shell',
    command: ['ls', '-l'],
    env: {},
    timeoutMs: null,
    user: null,
    workingDirectory: '/tmp',
  })
})
