import assert from 'node:assert/strict'
import { test } from 'node:test'
import { cancelEvalRun } from '@switchyard/contracts/evals/runs.ts'
import { limitsFile } from '#modules/limits/testing/limits-kit.ts'
import { becomesTrue } from '../../../../../dev/engines/wait-until.ts'
import { evalsKit, kitOf, ticket } from '../testing/evals-kit.ts'

const boundMs = 30_000
const rowsAtOnce = 4

test('runs of a project whose limits let in three calls a minute hold nobody else up (S3-8.1-a)', async (t) => {
  const tiers = { tier_1: { limits: { requests_per_minute: 3 } } }
  const limits = await limitsFile(t, { tiers })
  const kit = await evalsKit(t, { ...limits, SWITCHYARD_EVALS_CONCURRENCY: String(rowsAtOnce) })
  const { app } = kit
  await app.wired.limits.pinTier(app.org.id, 'tier_1')
  await app.wired.limits.pinTier(app.otherOrg.id, 'unlimited')
  app.double.decide(() => 'Hardware')
  const { id: slowEval } = await kit.newEval()
  const many = Array.from({ length: 300 }, (_, at) => ticket(at))
  const slow = await Promise.all([kit.start(slowEval, many), kit.start(slowEval, many)])
  const judged = async () => {
    const runs = await Promise.all(slow.map((run) => kit.read(run)))
    return runs.reduce((sum, { result_counts: counts }) => sum + counts.passed, 0)
  }
  assert.ok(await becomesTrue(async () => (await judged()) === 3, boundMs), 'all that a minute has')

  const other = kitOf(app, app.otherOrg.project)
  const { id: evalId } = await other.newEval()
  const quick = await other.ended(await other.start(evalId, many))
  assert.deepEqual([quick.status, quick.result_counts.passed], ['completed', many.length])
  assert.ok((await judged()) < 10, 'while the others still wait')
  for (const run of slow) await app.call(cancelEvalRun, { params: { eval_id: slowEval, run_id: run.id } })
})
