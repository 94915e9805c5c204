import { Agent, OpenAIProvider, Runner, shellTool } from '@openai/agents'
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { BadRequestError, NotFoundError, toFile, type OpenAI } from 'openai'
import type { Response, Tool } from 'openai/resources/responses/responses'
import { becomesTrue } from '../../dev/engines/wait-until.ts'
import { useDoubleStack } from './testing/use-double-stack.ts'
import { useSandbox } from './testing/use-sandbox.ts'

const { stack, double } = useDoubleStack(() => sandbox())
// Its end comes after that of the stack.
const sandbox = useSandbox()
const boundMs = 60_000

const call = (...commands: string[]) => ({ calls: [{ name: 'shell', arguments: { commands } }] })
const auto: Tool[] = [{ type: 'shell', environment: { type: 'container_auto' } }]
const reference = (container_id: string): Tool[] => [
  { type: 'shell', environment: { type: 'container_reference', container_id } },
]

/** The container that a client learns from the first shell call. */
function containerOf({ output }: Pick<Response, 'output'>): string {
  const item = output.find(({ type }) => type === 'shell_call')
  assert.ok(item?.type === 'shell_call' && item.environment?.type === 'container_reference')
  return item.environment.container_id
}

async function namesIn(client: OpenAI, id: string): Promise<string[]> {
  const names: string[] = []
  for await (const { path } of client.containers.files.list(id, { limit: 1, order: 'asc' })) names.push(path)
  return names
}

// S1-4.2-a S1-4.3-a S1-4.3-c
test('a container and its files live through every call of the SDK', async () => {
  const client = stack().project({ maxRetries: 0 })
  const made = await client.containers.create({
    name: 'desk',
    memory_limit: '1g',
    expires_after: { anchor: 'last_active_at', minutes: 5 },
  })
  assert.match(made.id, /^cntr_/)
  assert.deepEqual([made.status, made.memory_limit, made.expires_after?.minutes], ['active', '1g', 5])
  assert.deepEqual(await client.containers.retrieve(made.id), made)
  const ids: string[] = []
  for await (const { id } of client.containers.list({ limit: 1, name: 'desk' })) ids.push(id)
  assert.deepEqual(ids, [made.id])

  const bytes = randomBytes(100_000)
  const file = await client.containers.files.create(made.id, { file: await toFile(bytes, 'random.bin') })
  assert.deepEqual([file.path, file.bytes, file.source], ['/mnt/data/random.bin', bytes.length, 'user'])
  const stored = await client.files.create({
    file: await toFile(Buffer.from('a,b\n'), 'rows.csv'),
    purpose: 'user_data',
  })
  const copied = await client.containers.files.create(made.id, { file_id: stored.id })
  assert.deepEqual(await namesIn(client, made.id), [file.path, copied.path])
  const found = await client.containers.files.retrieve(file.id, { container_id: made.id })
  assert.deepEqual(found, file)
  const content = await client.containers.files.content.retrieve(file.id, { container_id: made.id })
  assert.ok(Buffer.from(await content.arrayBuffer()).equals(bytes))
  await client.containers.files.delete(file.id, { container_id: made.id })
  await assert.rejects(client.containers.files.retrieve(file.id, { container_id: made.id }), NotFoundError)
  await client.containers.delete(made.id)
  await assert.rejects(client.containers.retrieve(made.id), NotFoundError)
})

// S1-2.1-c S1-2.1-e S1-4.1-i S1-4.1-o
test('responses work in a container of their own, and go on in it by reference', async () => {
  const client = stack().project({ maxRetries: 0 })
  double().queue(call('echo kept > a.txt'), 'It is in /mnt/data/a.txt.')
  const first = await client.responses.create({ model: 'double-chat', input: 'Go.', tools: auto })
  const id = containerOf(first)
  const said = first.output.at(-1)
  assert.ok(said?.type === 'message' && said.content[0]?.type === 'output_text')
  assert.equal(said.content[0].annotations[0]?.type, 'container_file_citation')

  double().queue(call('cat a.txt'), 'Read.')
  const stream = client.responses.stream({
    model: 'double-chat',
    input: 'Read it.',
    tools: reference(id),
    previous_response_id: first.id,
  })
  let printed = ''
  for await (const event of stream) {
    if (event.type === 'response.shell_call_output_content.delta') printed += event.delta.stdout ?? ''
  }
  assert.equal(printed, 'kept\n')
  assert.equal(containerOf(await stream.finalResponse()), id)
  await assert.rejects(
    client.responses.create({ model: 'double-chat', input: 'Go.', tools: reference('cntr_none') }),
    NotFoundError,
  )
  const network_policy = { type: 'allowlist' as const, allowed_domains: ['example.com'] }
  const closed: Tool[] = [{ type: 'shell', environment: { type: 'container_auto', network_policy } }]
  await assert.rejects(client.responses.create({ model: 'double-chat', input: 'Go.', tools: closed }), (error) => {
    assert.ok(error instanceof BadRequestError)
    assert.deepEqual(
      [error.code, error.param],
      ['domain_not_allowed', 'tools[0].environment.network_policy.allowed_domains[0]'],
    )
    return true
  })
})

// S1-4.1-j
test('a background response runs its commands, and cancelling one ends its command', async () => {
  const client = stack().project({ maxRetries: 0 })
  const status = async (id: string) => (await client.responses.retrieve(id)).status
  double().queue(call('echo one'), call('echo two'), 'Done.')
  const queued = await client.responses.create({ model: 'double-chat', input: 'Go.', tools: auto, background: true })
  assert.ok(await becomesTrue(async () => (await status(queued.id)) === 'completed', boundMs))

  const { id } = await client.containers.create({ name: 'cancelled' })
  double().queue(call('echo begun > begun; sleep 31337; echo late > late', 'echo never > never'))
  const long = await client.responses.create({
    model: 'double-chat',
    input: 'Go.',
    tools: reference(id),
    background: true,
  })
  assert.ok(await becomesTrue(async () => (await namesIn(client, id)).includes('/mnt/data/begun'), boundMs))
  assert.equal((await client.responses.cancel(long.id)).status, 'cancelled')
  double().queue(call("cat /proc/[0-9]*/cmdline | tr '\\0' ' '"), 'Looked.')
  const look = await client.responses.create({ model: 'double-chat', input: 'Look.', tools: reference(id) })
  const [entry] = look.output.flatMap((item) => (item.type === 'shell_call_output' ? item.output : []))
  assert.doesNotMatch(entry?.stdout ?? '31337', /31337/)
  assert.deepEqual(await namesIn(client, id), ['/mnt/data/begun'])
})

// S1-1.1-b S1-1.4
test('an agent writes a file in a hosted container, and the download is byte-identical', async (t) => {
  const client = stack().project({ maxRetries: 0 })
  const bytes = randomBytes(20_000)
  double().queue(call(`echo '${bytes.toString('base64')}' | base64 -d > made.bin`), 'I made /mnt/data/made.bin.')
  const modelProvider = new OpenAIProvider({
    apiKey: stack().stack.seeded.projectKey,
    baseURL: stack().baseURL,
    useResponses: true,
  })
  t.after(() => modelProvider.close())
  const agent = new Agent({
    name: 'Hosted',
    model: 'double-chat',
    tools: [shellTool({ environment: { type: 'container_auto' } })],
  })
  const result = await new Runner({ modelProvider, tracingDisabled: true }).run(agent, 'Make a file.')
  assert.equal(result.finalOutput, 'I made /mnt/data/made.bin.')
  assert.ok(result.lastResponseId !== undefined)
  const id = containerOf(await client.responses.retrieve(result.lastResponseId))
  const [file] = (await client.containers.files.list(id)).data
  assert.deepEqual([file?.path, file?.source], ['/mnt/data/made.bin', 'assistant'])
  const content = await client.containers.files.content.retrieve(file?.id ?? '', { container_id: id })
  assert.ok(Buffer.from(await content.arrayBuffer()).equals(bytes))
})
