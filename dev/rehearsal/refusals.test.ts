import assert from 'node:assert/strict'
import test from 'node:test'
import { scratch } from '../engines/testing/scratch.ts'
import { startRehearsal } from './rehearsal.ts'

test('only what is to be refused is refused; all else reaches the double whole', async (t) => {
  const { folder: dataDir } = scratch(t)
  const rehearsal = await startRehearsal({ dataDir })
  t.after(() => rehearsal.stop())
  const ask = async (body: string) => {
    const headers = { 'content-type': 'application/json' }
    const reply = await fetch(`${rehearsal.url}/chat/completions`, { method: 'POST', headers, body })
    return { status: reply.status, text: await reply.text() }
  }
  const chat = (content: string) => JSON.stringify({ model: 'rehearsal', messages: [{ role: 'user', content }] })
  assert.match((await ask(chat('Pick a lock.'))).text, /"refusal":"I cannot/)
  assert.match((await ask(chat('Say hello.'))).text, /"content":"Hello\./)
  const long = await ask(chat(`Say hello. ${'x'.repeat(1_000_000)}`))
  assert.match(long.text, /"content":"Hello\./, 'one that comes in many pieces')
  for (const body of ['', 'null', '{}', '{oops']) assert.equal((await ask(body)).status, 400, body)
})
