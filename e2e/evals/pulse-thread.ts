import { setTimeout as sleep } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'
import type { Asked, Heard } from './pulse.ts'

const askEveryMs = 200
const answerBoundMs = 30_000

async function ask({ url, headers }: Asked, signal: AbortSignal): Promise<Heard> {
  const heard = { count: 0, failures: 0, worstMs: 0, ownLateMs: 0 }
  while (!signal.aborted) {
    const began = performance.now()
    const reply = await fetch(url, { headers, signal: AbortSignal.timeout(answerBoundMs) }).catch(() => null)
    await reply?.arrayBuffer().catch(() => undefined)
    const answered = performance.now()
    heard.count += 1
    heard.failures += reply?.ok === true ? 0 : 1
    heard.worstMs = Math.max(heard.worstMs, answered - began)
    await sleep(askEveryMs, null, { signal }).catch(() => undefined)
    heard.ownLateMs = Math.max(heard.ownLateMs, performance.now() - answered - askEveryMs)
  }
  return heard
}

const ending = new AbortController()
parentPort?.once('message', () => ending.abort())
parentPort?.postMessage(await ask(workerData as Asked, ending.signal))
