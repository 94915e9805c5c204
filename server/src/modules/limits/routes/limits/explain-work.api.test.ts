import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newRequestId } from '#platform/std/ids.ts'
import { becomesTrue } from '../../../../../../dev/engines/wait-until.ts'
import { limitedApp } from '../../testing/limited-app.ts'
import { explain, explainSettled, limitedOrg } from '../../testing/rate-kit.ts'

const withinMs = 20_000

test('of work that waited an operator is told how long and for what', async (t) => {
  const app = await limitedApp(t, { requests_per_minute: 1_000, requests_per_day: null, tokens_per_minute: 6_000 })
  const org = await limitedOrg(app, 'tier_1')
  const charged = () => ({ orgId: org.id, projectId: org.project.id, keyId: 'key_1', requestId: newRequestId() })
  const admitWork = (who: ReturnType<typeof charged>, tokens: number, signal = new AbortController().signal) =>
    app.wired.limits.admitWork(
      who,
      { operation: 'responses', model: 'double-chat', inputTokens: tokens, outputMax: null },
      signal,
    )
  ;(await admitWork(charged(), 6_000)).leave()
  await admitWork(charged(), 6_000)
  const [first, second] = [charged(), charged()]
  const leave = new AbortController()
  const waiting = admitWork(first, 100)
  const behind = assert.rejects(admitWork(second, 6_000, leave.signal))

  const told = async () => (await explain(app, org, first.requestId).catch(() => null))?.decisions.length === 1
  assert.ok(await becomesTrue(told, withinMs))
  const before = await explain(app, org, first.requestId)
  assert.match(
    before.summary,
    /^Waiting: TPM of the organization stood at \d{4} of 6000 \(TPM:double\), and the request asked for 100\.$/,
  )
  assert.equal(before.decisions[0]?.kind, 'waiting')

  const admission = await waiting
  leave.abort()
  await behind
  admission.leave()
  const after = await explainSettled(app, org, first.requestId)
  assert.match(after.summary, /^Admitted after waiting [\d.]+m?s, charged 100 tokens; no model call was made/)
  assert.deepEqual(
    after.decisions.map(({ kind }) => kind),
    ['waiting', 'admitted'],
  )
  const waitedMs = after.decisions[1]?.waited_ms ?? 0
  assert.ok(waitedMs > 500 && waitedMs < withinMs, `${waitedMs} ms`)
})
