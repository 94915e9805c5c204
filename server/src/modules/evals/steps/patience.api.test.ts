import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { evalsKit, ticket } from '../testing/evals-kit.ts'

const patienceMs = 1_000
const rowMs = 150
/** As often as a provider is asked before a row is turned away. */
const refusals = 3

test('a run goes on while its rows are answered, if only with what is wrong with them', async (t) => {
  const kit = await evalsKit(t, {
    SWITCHYARD_EVALS_PATIENCE_MS: String(patienceMs),
    SWITCHYARD_EVALS_CONCURRENCY: '1',
  })
  const rows = Array.from({ length: 2 + Math.ceil(patienceMs / rowMs) }, (_, at) => ticket(at))
  const refused = new Map([0, rows.length - 1].map((at) => [`Ticket ${at}"`, refusals]))
  kit.app.double.decide(async (body) => {
    const asked = JSON.stringify(body)
    const [name, left] = [...refused].find(([one]) => asked.includes(one)) ?? ['', 0]
    refused.set(name, left - 1)
    if (left > 0) return { status: 429 }
    await delay(rowMs)
    return { status: 400 }
  })
  const { id: evalId } = await kit.newEval()
  const run = await kit.ended(await kit.start(evalId, rows))
  assert.deepEqual([run.status, run.error, run.result_counts.errored], ['completed', null, rows.length])
  const codes = new Set((await kit.items(run)).map(({ sample }) => sample.error?.code))
  assert.deepEqual([...codes], ['provider_error'])
})
