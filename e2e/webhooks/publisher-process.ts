import type { ProjectId } from '@switchyard/contracts/ids.ts'
import { settingsFromEnvironment } from '#platform/config/environment.ts'
import type { Part } from '#platform/lifecycle/module.ts'
import { createLog } from '#platform/telemetry/log.ts'
import { sleep } from '#platform/std/clock.ts'
import { wire, type Wired } from '../../server/src/wiring.ts'
import { answerParent, sharedNow } from './child.ts'
import type { Commits, PublisherQuestion, Publishing } from './publisher.ts'

let wired: Wired | null = null
let started: Part[] = []

async function start(worker: boolean): Promise<void> {
  const settings = settingsFromEnvironment({})
  wired = await wire(settings, createLog({ level: settings.logLevel, pretty: true, name: 'publisher' }))
  started = [wired.webhooks.sender, ...(worker ? wired.webhooks.workers : [])]
  for (const part of started) await part.start?.()
}

async function publish(publishing: Publishing): Promise<Commits> {
  const { from, to, perTransaction, concurrency } = publishing
  const commits = new Float64Array(to - from)
  const began = performance.now()
  let next = from
  const one = async () => {
    while (next < to) {
      const first = next
      next = Math.min(to, next + perTransaction)
      const last = next
      await untilItsTurn(publishing, first, began)
      await commit(publishing, first, last, commits)
    }
  }
  await Promise.all(Array.from({ length: concurrency }, one))
  return commits
}

async function untilItsTurn({ from, perSecond }: Publishing, number: number, began: number): Promise<void> {
  if (perSecond === 0) return
  const wait = began + ((number - from) * 1_000) / perSecond - performance.now()
  if (wait > 0) await sleep(wait)
}

async function commit(publishing: Publishing, first: number, last: number, commits: Commits): Promise<void> {
  if (wired === null) throw new Error('start first')
  const { webhooks, db } = wired
  const { types, projectId, from } = publishing
  const news = Array.from({ length: last - first }, (_none, index) => ({
    projectId: projectId as ProjectId,
    type: types[(first + index) % types.length] ?? 'response.completed',
    data: { id: `resp_${first + index}`, n: first + index },
  }))
  await db.tx(async (tx) => {
    // Added before publish adds its own, so the time is taken before anything is sent.
    tx.afterCommit(() => commits.fill(sharedNow(), first - from, last - from))
    await webhooks.publish(tx, ...news)
  })
}

async function stop(): Promise<void> {
  for (const part of started.toReversed()) {
    await part.drain?.()
    await part.stop?.()
  }
  await wired?.outbound.close()
  await wired?.db.close()
}

answerParent<PublisherQuestion>(async (question) => {
  if (question.kind === 'start') return await start(question.worker)
  if (question.kind === 'publish') return await publish(question.publishing)
  return await stop()
})
