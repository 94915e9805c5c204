import assert from 'node:assert/strict'
import { test } from 'node:test'
import { deleteContainer } from '@switchyard/contracts/containers.ts'
import { createResponse, retrieveResponse } from '@switchyard/contracts/responses/operations.ts'
import { filesIn, newContainer, printedIn } from '#modules/containers/testing/containers-kit.ts'
import { runtimes } from '#modules/containers/testing/sandbox-app.ts'
import { becomesTrue } from '../../../../../dev/engines/wait-until.ts'
import {
  callsIn,
  containerIn,
  hostedKit,
  outputsIn,
  reference,
  shellCall,
  type HostedKit,
} from '../testing/hosted-kit.ts'
import { SocketClient, textOf } from '../testing/socket-client.ts'

const boundMs = 45_000
/** Told apart from every other process by its time. */
const long = (seconds: number) => `echo begun > begun; sleep ${seconds}; echo too-late > late`

const begun = ({ app }: HostedKit, id: string) => becomesTrue(async () => 'begun' in (await filesIn(app, id)), boundMs)

/** Waits until no process with this text in its command line is left in the container. */
const isGone = ({ app }: HostedKit, id: string, text: string) =>
  becomesTrue(
    async () => !(await printedIn(app, id, "cat /proc/[0-9]*/cmdline | tr '\\0' ' '")).includes(text),
    boundMs,
  )

for (const runtime of runtimes) {
  test(`how responses with a hosted shell end on ${runtime}`, async (t) => {
    const kit = await hostedKit(t, runtime)
    const { app } = kit
    await t.test('a client that leaves a foreground response ends its command', async () => {
      for (const stream of [false, true]) {
        const { id } = await newContainer(app)
        app.double.queue(shellCall([long(31_338)]))
        const leaving = new AbortController()
        const asking = fetch(`${app.baseUrl}${createResponse.path}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${app.project.key}`, 'content-type': 'application/json' },
          body: JSON.stringify({ model: 'double-chat', input: 'Go.', tools: reference(id), stream }),
          signal: leaving.signal,
        }).then(
          (reply) => reply.text().catch(() => ''),
          () => '',
        )
        assert.ok(await begun(kit, id))
        leaving.abort()
        await asking
        assert.ok(await isGone(kit, id, '31338'))
        assert.deepEqual(Object.keys(await filesIn(app, id)), ['begun'])
      }
    })

    await t.test('a container that is deleted under a response fails it, and the response says why', async () => {
      const { id } = await newContainer(app)
      app.double.queue(shellCall([long(31_339)]))
      const asking = kit.create({ tools: reference(id) })
      assert.ok(await begun(kit, id))
      assert.equal((await app.call(deleteContainer, { params: { container_id: id } })).status, 200)
      const { status, error, output } = await asking
      assert.deepEqual([status, error?.code], ['failed', 'server_error'])
      assert.match(error?.message ?? '', new RegExp(id))
      assert.equal(outputsIn(output).at(-1)?.status, 'incomplete')
    })

    await t.test('a response that is not stored runs its commands all the same', async () => {
      app.double.queue(shellCall(['echo unstored']), 'Done.')
      const { output, id } = await kit.create({ store: false })
      assert.equal(outputsIn(output)[0]?.output[0]?.stdout, 'unstored\n')
      assert.equal((await app.call(retrieveResponse, { params: { response_id: id } })).status, 404)
      assert.equal(await printedIn(app, containerIn(output), 'echo still there'), 'still there\n')
    })

    await t.test('a socket runs commands, and the next turn goes on in the container that it names', async () => {
      const socket = await SocketClient.open(t, app)
      app.double.queue(shellCall(['echo kept > a.txt; echo made']), 'Made.')
      socket.create({ input: 'Go.', tools: [{ type: 'shell', environment: { type: 'container_auto' } }], store: false })
      const events = await socket.turn()
      const types = events.map(({ type }) => type)
      assert.ok(types.includes('response.shell_call_output_content.delta'), types.join(' '))
      const last = events.at(-1)
      assert.ok(last !== undefined)
      assert.equal(textOf(last), 'Made.')
      const id = containerIn((last.response?.output ?? []) as never)
      app.double.queue(shellCall(['cat a.txt']), 'Read.')
      const second = await socket.ask({
        input: 'Read it.',
        previous_response_id: last.response?.id,
        tools: reference(id),
        store: false,
      })
      assert.match(JSON.stringify(second.response?.output), /"stdout":"kept\\n"/)
    })
  })
}

// S1-4.1-f
test('what limits tool calls limits those of the hosted shell', async (t) => {
  const kit = await hostedKit(t, 'runc')
  const { app } = kit
  const offered = (at: number) => app.double.requests.at(at)?.body['tools']

  await t.test('after max_tool_calls the shell is not offered any more', async () => {
    app.double.queue(shellCall(['echo one']), 'Enough.')
    const { output } = await kit.create({ max_tool_calls: 1 })
    assert.equal(outputsIn(output).length, 1)
    assert.equal(offered(-1), undefined)
    assert.notEqual(offered(-2), undefined)
  })

  await t.test('calls beyond it that come in one turn are not run', async () => {
    const { id } = await newContainer(app)
    const call = (word: string) => ({
      name: 'shell',
      arguments: { commands: [`echo ${word} > ${word}`] },
      id: `call_${word}`,
    })
    app.double.queue({ calls: [call('one'), call('two'), call('three')] }, 'Enough.')
    const { output, status } = await kit.create({ max_tool_calls: 1, tools: reference(id) })
    assert.equal(status, 'completed')
    assert.deepEqual(Object.keys(await filesIn(app, id)), ['one'])
    assert.deepEqual(
      outputsIn(output).map((item) => item.status),
      ['completed', 'incomplete', 'incomplete'],
    )
  })

  await t.test('a required tool is called in the first turn, and the model is free after it', async () => {
    app.double.queue('I would rather not.', shellCall(['echo done']), 'Done.')
    const { output } = await kit.create({ tool_choice: 'required' })
    assert.equal(callsIn(output).length, 1)
    const choices = app.double.requests.slice(-3).map(({ body }) => body['tool_choice'] ?? null)
    assert.deepEqual(choices, ['required', 'required', null])
  })
})
