import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { retrieveResponse } from '@switchyard/contracts/responses/operations.ts'
import { freePort } from '../../../../../dev/engines/free-port.ts'
import { becomesTrue } from '../../../../../dev/engines/wait-until.ts'
import { responsesKit } from '../testing/responses-kit.ts'

const waitMs = 20_000
const odd = 'a\u0000b, half of \ud83d'

test('what a model says is kept, also where it is no text for PostgreSQL', async (t) => {
  const own = {
    SWITCHYARD_WORKER_PORT: String(await freePort()),
    SWITCHYARD_DURABLE_PREFIX: `odd-${randomBytes(4).toString('hex')}`,
  }
  const kit = await responsesKit(t, own, ['api', 'worker'])
  kit.double.decide(() => odd)
  const read = async (id: string) => (await kit.app.call(retrieveResponse, { params: { response_id: id } })).body

  await t.test('in a response, and in what follows it', async () => {
    const first = await kit.create({})
    assert.deepEqual([first.status, (await read(first.id)).output], ['completed', first.output])
    assert.equal((await kit.create({ previous_response_id: first.id })).status, 'completed')
  })

  await t.test('in the background', async () => {
    const { id } = await kit.create({ background: true })
    assert.ok(await becomesTrue(async () => (await read(id)).status === 'completed', waitMs))
  })

  await t.test('in a conversation', async () => {
    const conversation = await kit.conversation()
    for (let turns = 0; turns < 2; turns += 1) {
      assert.equal(
        (await kit.create({ conversation, input: [{ role: 'user', content: 'Hello.' }] })).status,
        'completed',
      )
    }
    assert.equal((await kit.said(conversation)).length, 4)
  })
})
