/** The twin of a run: the same calls with the same bodies, by a loop that keeps nothing. */
import { Pool } from 'undici'
import { answerParent } from '../webhooks/child.ts'
import type { BareLoop, BareRound } from './bare-loop.ts'
import { bodyOfRow } from './row-calls.ts'

const path = '/v1/chat/completions'
const headers = { 'content-type': 'application/json' }
let pool: Pool | null = null

async function ask(origin: Pool, body: string): Promise<void> {
  const reply = await origin.request({ method: 'POST', path, headers, body })
  const answer = (await reply.body.json()) as { choices?: unknown[] }
  if (reply.statusCode !== 200 || answer.choices?.length !== 1) throw new Error(`answered with ${reply.statusCode}`)
}

answerParent<BareLoop>(async ({ url, bodies, from, rows, workers }): Promise<BareRound> => {
  const origin = (pool ??= new Pool(url, { connections: workers, pipelining: 1, allowH2: false }))
  let next = from
  const work = async () => {
    while (next < from + rows) {
      const row = next
      next += 1
      await ask(origin, bodyOfRow(bodies.sample, row))
      await ask(origin, bodyOfRow(bodies.grade, row))
    }
  }
  const cpu = process.cpuUsage()
  const began = performance.now()
  await Promise.all(Array.from({ length: workers }, work))
  const seconds = (performance.now() - began) / 1_000
  const { user, system } = process.cpuUsage(cpu)
  return { rowsPerSecond: rows / seconds, cpuMicros: (user + system) / rows }
})
