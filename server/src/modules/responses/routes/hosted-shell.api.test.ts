import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ResponseStreamEvent } from 'openai/resources/responses/responses'
import { OpenAI } from 'openai'
import { sql } from 'kysely'
import { filesIn, newContainer, printedIn, upload } from '#modules/containers/testing/containers-kit.ts'
import { runtimes } from '#modules/containers/testing/sandbox-app.ts'
import { becomesTrue } from '../../../../../dev/engines/wait-until.ts'
import { auto, callsIn, containerIn, hostedKit, outputsIn, reference, shellCall } from '../testing/hosted-kit.ts'

const boundMs = 30_000

/** As the contract writes a sequence: any number of deltas is one line. */
const shape = (events: readonly { type: string }[]) =>
  events.map(({ type }) => type).filter((type, at, all) => !(type.endsWith('.delta') && all[at - 1] === type))

for (const runtime of runtimes) {
  test(`a hosted shell on ${runtime}`, async (t) => {
    const kit = await hostedKit(t, runtime)
    const { app } = kit
    const client = new OpenAI({ baseURL: `${app.baseUrl}/v1`, apiKey: app.project.key, maxRetries: 0 })

    // S1-1.1-b S1-2.1-c S1-2.1-d S1-4.1-m
    await t.test(
      'nothing is started before the first command, and an unused container goes with its response',
      async () => {
        app.double.queue('No need for a shell.')
        const { output } = await kit.create({})
        assert.deepEqual(
          output.map(({ type }) => type),
          ['message'],
        )
        assert.equal(await kit.machines(), 0)
        const gone = async () => {
          const { rows } = await sql<{ status: string }>`select status from containers.container`.execute(app.db.kysely)
          return rows.every(({ status }) => status === 'deleted')
        }
        assert.ok(await becomesTrue(gone, boundMs), 'the reservation is gone')
      },
    )

    // S1-1.1-a S1-2.1-i S1-2.5-a S1-2.5-c S1-2.5-d S1-2.5-e S1-2.5-i S1-2.5-j S1-2.5-l S1-2.5-o S1-2.5-q S1-4.1-l
    await t.test('a call and its output are items of the response, and the model reads what was printed', async () => {
      app.double.queue(shellCall(['echo out; echo err >&2; exit 3', 'pwd']), 'Done.')
      const { output, status } = await kit.create({})
      assert.equal(status, 'completed')
      const [call, result, said] = output
      assert.ok(call?.type === 'shell_call' && result?.type === 'shell_call_output' && said?.type === 'message')
      assert.match(containerIn(output), /^cntr_[0-9a-z]{26}$/)
      assert.deepEqual(
        [call.status, call.action],
        [
          'completed',
          { commands: ['echo out; echo err >&2; exit 3', 'pwd'], timeout_ms: 120_000, max_output_length: null },
        ],
      )
      assert.deepEqual([result.status, result.call_id, result.max_output_length], ['completed', call.call_id, null])
      assert.deepEqual(result.output, [
        { stdout: 'out\n', stderr: 'err\n', outcome: { type: 'exit', exit_code: 3 } },
        { stdout: '/mnt/data\n', stderr: '', outcome: { type: 'exit', exit_code: 0 } },
      ])
      assert.match(kit.told(), /out\\+n.*err\\+n/)
    })

    // S1-1.3-a S1-2.1-e S1-2.1-h S1-4.1-h S1-4.1-i S1-4.1-n S1-4.1-o
    await t.test('only a reference goes on in an earlier container', async () => {
      app.double.queue(shellCall(['echo kept > a.txt']), 'Written.')
      const first = await kit.create({})
      const id = containerIn(first.output)
      app.double.queue(shellCall(['cat a.txt']), 'Read.')
      const second = await kit.create({ tools: reference(id), previous_response_id: first.id })
      assert.equal(containerIn(second.output), id)
      assert.equal(outputsIn(second.output)[0]?.output[0]?.stdout, 'kept\n')
      app.double.queue(shellCall(['cat a.txt || ls -A']), 'Nothing there.')
      const third = await kit.create({ previous_response_id: second.id })
      assert.notEqual(containerIn(third.output), id)
      assert.match(outputsIn(third.output)[0]?.output[0]?.stderr ?? '', /a\.txt/)
      assert.equal(outputsIn(third.output)[0]?.output[0]?.stdout, '')
      const made = await newContainer(app)
      app.double.queue(shellCall(['echo made > b.txt']), 'Made.')
      await kit.create({ tools: reference(made.id) })
      assert.deepEqual(Object.keys(await filesIn(app, made.id)), ['b.txt'])
    })

    // S1-2.5-b S1-2.5-g S1-2.5-m S1-2.5-n
    await t.test('a streamed response tells every step in the order of the contract', async () => {
      app.double.queue(
        shellCall(['echo one > /mnt/data/a.txt; echo printed; echo wrong >&2']),
        'It is in /mnt/data/a.txt now.',
      )
      const events: ResponseStreamEvent[] = []
      const stream = client.responses.stream({ model: 'double-chat', input: 'Go.', tools: auto() as never })
      for await (const event of stream) events.push(event)
      const final = await stream.finalResponse()
      assert.deepEqual(
        events.map((event) => event.sequence_number),
        events.map((_event, at) => at),
      )
      assert.deepEqual(shape(events), [
        'response.created',
        'response.in_progress',
        'response.output_item.added',
        'response.shell_call_command.added',
        'response.shell_call_command.delta',
        'response.shell_call_command.done',
        'response.output_item.done',
        'response.output_item.added',
        'response.shell_call_output_content.delta',
        'response.shell_call_output_content.done',
        'response.output_item.done',
        'response.output_item.added',
        'response.content_part.added',
        'response.output_text.delta',
        'response.output_text.annotation.added',
        'response.output_text.done',
        'response.content_part.done',
        'response.output_item.done',
        'response.completed',
      ])
      assert.deepEqual(
        final.output.map(({ type }) => type),
        ['shell_call', 'shell_call_output', 'message'],
      )
      const added = events.find((event) => event.type === 'response.output_item.added')
      assert.ok(added?.item.type === 'shell_call' && added.item.status === 'in_progress')
      assert.deepEqual(added.item.action.commands, [])
    })

    await t.test('output is told while the command runs', async () => {
      const { id } = await newContainer(app)
      app.double.queue(shellCall(['echo first; while ! [ -e go ]; do sleep 0.05; done; echo second']), 'Done.')
      const stream = await client.responses.create({
        model: 'double-chat',
        input: 'Go.',
        tools: reference(id) as never,
        stream: true,
      })
      let printed = ''
      for await (const event of stream) {
        if (event.type !== 'response.shell_call_output_content.delta') continue
        printed += event.delta.stdout ?? ''
        if (printed === 'first\n') await upload(app, id, 'go', '')
      }
      assert.equal(printed, 'first\nsecond\n')
    })

    // S1-2.5-f S1-2.5-k S1-2.5-p
    await t.test(
      'limits of a call hold, and every command has its entry whatever became of the ones before',
      async () => {
        app.double.queue(
          shellCall(['printf %0100d 0; printf %0100d 0 >&2', 'echo partial; sleep 60', 'exit 7', 'echo last'], {
            timeout_ms: 1_500,
            max_output_length: 50,
          }),
          'Done.',
        )
        const { output } = await kit.create({})
        assert.deepEqual(callsIn(output)[0]?.action.timeout_ms, 1_500)
        const [result] = outputsIn(output)
        assert.deepEqual([result?.status, result?.max_output_length], ['completed', 50])
        assert.deepEqual(result?.output, [
          { stdout: '0'.repeat(25), stderr: '0'.repeat(25), outcome: { type: 'exit', exit_code: 0 } },
          { stdout: 'partial\n', stderr: '', outcome: { type: 'timeout' } },
          { stdout: '', stderr: '', outcome: { type: 'exit', exit_code: 7 } },
          { stdout: 'last\n', stderr: '', outcome: { type: 'exit', exit_code: 0 } },
        ])
        app.double.queue(shellCall(['true'], { timeout_ms: 10_000_000 }), 'Done.')
        assert.equal(callsIn((await kit.create({})).output)[0]?.action.timeout_ms, 600_000)
      },
    )

    await t.test('output that is no text is shown as far as it can be, and stored', async () => {
      app.double.queue(shellCall(["printf 'a\\0b\\377c\\360\\237\\216\\211'"]), 'Done.')
      const { output } = await kit.create({})
      assert.equal(outputsIn(output)[0]?.output[0]?.stdout, 'a\uFFFDb\uFFFDc🎉')
    })

    await t.test('a message cites the files that it names, by places that JavaScript counts', async () => {
      const text = 'Café 🎉: /mnt/data/out.csv, not /mnt/data/none.csv; also /mnt/data/sub/b.txt.'
      app.double.queue(shellCall(['echo a > out.csv; mkdir sub; echo b > sub/b.txt']), text)
      const { output } = await kit.create({})
      const message = output.at(-1)
      assert.ok(message?.type === 'message' && message.content[0]?.type === 'output_text')
      const files = await filesIn(app, containerIn(output))
      const cited = ['out.csv', 'sub/b.txt'].map((name) => ({
        type: 'container_file_citation',
        container_id: containerIn(output),
        file_id: files[name]?.id,
        filename: name.split('/').at(-1),
        start_index: text.indexOf(`/mnt/data/${name}`),
        end_index: text.indexOf(`/mnt/data/${name}`) + `/mnt/data/${name}`.length,
      }))
      assert.deepEqual(message.content[0].annotations, cited)
    })

    await t.test('what an earlier command left running is there for the next call and the next response', async () => {
      const { id } = await newContainer(app)
      app.double.queue(
        shellCall(['(while :; do date +%s%N > beat; sleep 0.1; done) >/dev/null 2>&1 &']),
        shellCall(['sleep 60'], { timeout_ms: 300 }),
        'Done.',
      )
      const { output } = await kit.create({ tools: reference(id) })
      assert.deepEqual(outputsIn(output)[1]?.output[0]?.outcome, { type: 'timeout' })
      const beats = await printedIn(app, id, 'cat beat; sleep 1; cat beat')
      const [before, after] = beats.trim().split('\n')
      assert.notEqual(before, after)
    })
  })
}
