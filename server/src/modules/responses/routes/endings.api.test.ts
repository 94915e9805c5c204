import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  cancelResponse,
  createResponse,
  deleteResponse,
  retrieveResponse,
} from '@switchyard/contracts/responses/operations.ts'
import { sql } from 'kysely'
import { becomesTrue } from '../../../../../dev/engines/wait-until.ts'
import { urlOf } from '../../../../test/call-operation.ts'
import { functionTool, responsesKit } from '../testing/responses-kit.ts'

const boundMs = 10_000

interface Told {
  type: string
  data: { id: string }
}

// S1-4.1-k S1-6-d S3-1.2-b S3-2.4-a S3-6-b
test('every response that ends says so once', async (t) => {
  const kit = await responsesKit(t)
  const { app, double } = kit

  /** The events that webhooks would carry, by the response they tell of. */
  async function news(id: string): Promise<string[]> {
    const { rows } = await sql<{ body: string }>`
      select body from webhooks.event where project_id = ${app.project.id} order by id`.execute(app.db.kysely)
    const told = rows.map(({ body }) => JSON.parse(body) as Told)
    return told.filter(({ data }) => data.id === id).map(({ type }) => type)
  }

  /** A stream that is left once a word has come. */
  async function leave(body: object): Promise<string> {
    const leaving = new AbortController()
    const reply = await fetch(urlOf(app.baseUrl, createResponse, {}), {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${app.project.key}` },
      body: JSON.stringify({ model: 'double-chat', input: 'Hello.', stream: true, ...body }),
      signal: leaving.signal,
    })
    let text = ''
    for await (const chunk of reply.body ?? []) {
      text += Buffer.from(chunk).toString()
      if (text.includes('response.output_text.delta')) break
    }
    leaving.abort()
    return /"id":"(resp_[0-9a-z]+)"/.exec(text)?.[1] ?? ''
  }

  await t.test('completed, incomplete, failed and cancelled; foreground, background and not stored', async () => {
    double.queue('Done.', { text: 'Cut', finish: 'length' }, 'Not stored.')
    const completed = await kit.create({})
    const incomplete = await kit.create({})
    const unstored = await kit.create({ store: false })
    double.queue('No.', 'No.')
    const failed = await kit.create({ tools: [functionTool('look')], tool_choice: 'required' })
    const cancelled = await kit.create({ background: true })
    const deleted = await kit.create({ background: true })
    for (let round = 0; round < 2; round += 1) {
      await app.call(cancelResponse, { params: { response_id: cancelled.id } })
      await app.call(deleteResponse, { params: { response_id: deleted.id } })
    }
    assert.equal(failed.status, 'failed')
    const expected = { completed, incomplete, failed, cancelled } as const
    for (const [status, { id }] of Object.entries(expected)) assert.deepEqual(await news(id), [`response.${status}`])
    assert.deepEqual(await news(unstored.id), ['response.completed'])
    assert.deepEqual(await news(deleted.id), ['response.cancelled'])
  })

  await t.test(
    'a provider that fails before its first word is an HTTP error, and the response has failed',
    async () => {
      const broken = { status: 500 }
      const refusals: [object, number, string][] = [
        [{ status: 429, headers: { 'retry-after': '30' } }, 429, 'rate_limit_exceeded'],
        [broken, 502, 'provider_error'],
        [{ trouble: 'malformed', text: 'a' }, 502, 'provider_error'],
      ]
      for (const [answer, status, code] of refusals) {
        for (const stream of [false, true]) {
          double.queue(...Array.from({ length: answer === broken ? 3 : 1 }, () => answer as never))
          const reply = await kit.ask({ stream })
          assert.deepEqual([reply.status, reply.error?.code], [status, code], reply.text)
          if (status === 429) assert.equal(reply.headers.get('retry-after'), '30')
        }
      }
      const { rows } = await sql<{ failed: number; running: number }>`
      select (select count(*) from responses.response where ended_status = 'failed')::int as failed,
        (select count(*) from responses.running)::int as running`.execute(app.db.kysely)
      assert.deepEqual(rows, [{ failed: 7, running: 0 }])
    },
  )

  await t.test(
    'a provider that fails in the middle ends the stream with what came, and nothing is asked again',
    async () => {
      const before = double.requests.length
      double.queue({ text: 'one two three', after: 3, trouble: 'cut' })
      const reply = await kit.ask({ stream: true })
      assert.equal(reply.status, 200)
      assert.match(reply.text, /event: response\.failed\ndata: .*"status":"failed".*"code":"server_error"/)
      assert.equal(double.requests.length, before + 1)
      const id = /"id":"(resp_[0-9a-z]+)"/.exec(reply.text)?.[1] ?? ''
      const { body } = await app.call(retrieveResponse, { params: { response_id: id } })
      const [item] = body.output
      assert.ok(item?.type === 'message' && item.status === 'incomplete')
      assert.deepEqual(await news(id), ['response.failed'])
    },
  )

  await t.test('a client that leaves a foreground response cancels it, and the provider is left as well', async () => {
    const conversation = await kit.conversation()
    double.queue({ text: 'word '.repeat(500), slowMs: 20 })
    const id = await leave({ conversation })
    const statusOf = async () => (await app.call(retrieveResponse, { params: { response_id: id } })).body.status
    assert.ok(await becomesTrue(async () => (await statusOf()) === 'cancelled', boundMs))
    assert.ok(await becomesTrue(() => double.open() === 0, boundMs))
    assert.deepEqual(await news(id), ['response.cancelled'])
    const said = await kit.said(conversation)
    assert.equal(said.length, 1, 'of a cancelled response only the input stays')
    assert.equal((await kit.create({ conversation, input: 'Again.' })).status, 'completed')
  })

  await t.test('so does one that waits for a whole answer', async () => {
    double.queue({ text: 'late', slowMs: 5_000 })
    const leaving = new AbortController()
    const asked = double.requests.length
    const metadata = { mine: 'yes' }
    const call = fetch(urlOf(app.baseUrl, createResponse, {}), {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${app.project.key}` },
      body: JSON.stringify({ model: 'double-chat', input: 'Hello.', metadata }),
      signal: leaving.signal,
    })
    assert.ok(await becomesTrue(() => double.requests.length > asked, boundMs))
    leaving.abort()
    await assert.rejects(call)
    const ended = async () => {
      const { rows } = await sql<{ ended_status: string | null }>`
        select ended_status from responses.response where asked -> 'metadata' ->> 'mine' = 'yes'`.execute(app.db.kysely)
      return rows[0]?.ended_status === 'cancelled'
    }
    assert.ok(await becomesTrue(ended, boundMs))
  })
})
