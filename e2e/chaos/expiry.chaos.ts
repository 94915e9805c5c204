/**
 * Nothing lost, due times: files made through the store with expires_at in the next minute, while api, worker and
 * PostgreSQL are each killed with -9 and started again at random moments. Every file ends expired, its blob is gone,
 * none early, none twice.
 *
 *   node e2e/chaos/expiry.chaos.ts --files 2000 --rounds 10
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { sleep } from '#platform/std/clock.ts'
import { startStack, type Stack } from '../../dev/stack.ts'
import { recordCounts } from '../../tools/testing/record-counts.ts'
import { auditExpiry, makeFiles, openSubject, watchEndings, type Subject } from './expiring-files.ts'
import { seededRandom } from './seeded-random.ts'

/** Files of a round expire from now on until this many seconds later. */
const spreadSeconds = 40
/** A round waits this long after the last due time; a dead sweep's lease passes within it. */
const graceMs = 60_000
const pollMs = 500

async function kill(stack: Stack, victim: string): Promise<void> {
  if (victim === 'postgres') {
    await stack.postgres?.kill9()
    await stack.postgres?.restart()
    return
  }
  const node = stack.nodes.find(({ roles }) => roles === victim)
  if (node === undefined) throw new Error(`no node runs ${victim}`)
  await node.process.kill9()
  await node.process.start()
}

/** Each victim dies once or twice a round, at moments the seed decides. */
async function killAtRandom(stack: Stack, random: () => number, forMs: number): Promise<string[]> {
  const moments = ['api', 'worker', 'postgres', 'worker']
    .map((victim) => ({ victim, atMs: random() * forMs }))
    .toSorted((a, b) => a.atMs - b.atMs)
  const began = performance.now()
  const killed: string[] = []
  for (const { victim, atMs } of moments) {
    await sleep(Math.max(0, atMs - (performance.now() - began)))
    await kill(stack, victim)
    killed.push(`${victim}@${(atMs / 1_000).toFixed(1)}s`)
  }
  return killed
}

async function waitUntilCleared(subject: Subject, round: number): Promise<void> {
  const deadline = performance.now() + spreadSeconds * 1_000 + graceMs
  while (performance.now() < deadline) {
    try {
      if ((await auditExpiry(subject, round)).open === 0) return
    } catch {
      // PostgreSQL may be on its way back from the last kill.
    }
    await sleep(pollMs)
  }
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      files: { type: 'string', default: '2000' },
      rounds: { type: 'string', default: '10' },
      seed: { type: 'string', default: String(Date.now() % 1_000_000) },
    },
  })
  const files = Number(values.files)
  const random = seededRandom(Number(values.seed))
  const dataDir = mkdtempSync(join(tmpdir(), 'switchyard-expiry-'))
  console.log(`seed ${values.seed}, ${files} files a round, ${values.rounds} rounds`)
  const stack = await startStack({ dataDir, nodes: { api: 1, worker: 2 } })
  let passed = 0
  let failed = 0
  try {
    const subject = await openSubject(stack)
    await watchEndings(subject)
    for (let round = 1; round <= Number(values.rounds); round += 1) {
      await makeFiles(subject, round, files, spreadSeconds, random)
      const [killed] = await Promise.all([
        killAtRandom(stack, random, spreadSeconds * 1_000),
        waitUntilCleared(subject, round),
      ])
      const audit = await auditExpiry(subject, round)
      const good =
        audit.expired === files && audit.early === 0 && audit.twice === 0 && audit.blobsLeft === 0 && audit.open === 0
      if (good) passed += 1
      else failed += 1
      console.log(`round ${round}: killed ${killed.join(' ')}; ${JSON.stringify(audit)} ${good ? 'ok' : 'FAILED'}`)
    }
    await subject.close()
  } finally {
    await stack.stop()
    rmSync(dataDir, { recursive: true, force: true })
  }
  recordCounts('expiry', { passed, failed })
  return failed === 0 ? 0 : 1
}

process.exitCode = await main()
