import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { compileGrader } from '../domain/criteria.ts'
import type { GradeUses, Grading } from './grade-criterion.ts'
import { gradeRow, RowProgress } from './grade-row.ts'
import { RowMeter } from './row-meter.ts'
import { TextTurns } from './text-turns.ts'

const signal = new AbortController().signal

function busy(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

/** Turns of the event loop until then. */
async function turnsUntil(end: Promise<unknown>): Promise<number> {
  let over = false
  void end.finally(() => void (over = true))
  let turns = 0
  for (; !over; turns += 1) await nextTurn()
  await end
  return turns
}

const letters = (count: number, step: number) =>
  Array.from({ length: count }, (_, at) => String.fromCharCode(97 + ((at * step + (at >> 3)) % 26))).join('')

/** What judging texts uses of all that there is. */
const use = () => ({ turns: new TextTurns() }) as Partial<GradeUses> as GradeUses
const charged = { orgId: 'org_a', projectId: 'proj_a', keyId: 'key_a' }
const grading = () => ({ charged, meter: new RowMeter(), signal, runId: 'evalrun_a' }) as Partial<Grading> as Grading

const similar = {
  type: 'text_similarity',
  name: 'near',
  input: '{{ item.a }}',
  reference: '{{ item.b }}',
  evaluation_metric: 'fuzzy_match',
  pass_threshold: 0,
} as const
const within = {
  type: 'string_check',
  name: 'within',
  operation: 'ilike',
  input: '{{ item }}',
  reference: 'x',
} as const

for (const [what, grader, item] of [
  ['similarity of long texts', similar, { a: letters(4_000, 7), b: letters(4_000, 11) }],
  ['text that is found in a large item', within, { a: `${'"'.repeat(200_000)}X` }],
] as const) {
  test(`everything else goes on while many rows are judged by ${what}`, async () => {
    const uses = use()
    const criteria = Array.from({ length: 10 }, (_, at) => compileGrader({ ...grader }, `c${at}`))
    const rows = Array.from({ length: 10 }, async (_, n) => {
      const row = { n, item, sample: null, error: null }
      return await gradeRow(uses, { asking: null, criteria }, row, new RowProgress(n), grading())
    })
    const turns = await turnsUntil(Promise.all(rows))
    assert.ok(turns >= 5, `${turns} turns`)
    for (const { status } of await Promise.all(rows)) assert.equal(status, 'pass')
  })
}

test('short texts do not wait', async () => {
  const turns = new TextTurns()
  const texts = Array.from({ length: 100 }, () => turns.run('proj_a', signal, () => 'short'))
  assert.ok((await turnsUntil(Promise.all(texts))) <= 10)
})

test('a text of one project does not wait for all those of another', async () => {
  const turns = new TextTurns()
  const order: string[] = []
  const judge = (projectId: string) => turns.run(projectId, signal, () => (busy(6), order.push(projectId)))
  const many = Array.from({ length: 12 }, () => judge('many'))
  await Promise.all([...many, judge('one')])
  assert.ok(order.indexOf('one') <= 4, order.join(' '))
})

test('texts of what is called off are not looked at, and those behind them are', async () => {
  const turns = new TextTurns()
  const run = new AbortController()
  let judged = 0
  await turns.run('proj_a', signal, () => busy(12))
  const off = Array.from({ length: 3 }, () => turns.run('proj_a', run.signal, () => (judged += 1)))
  const behind = turns.run('proj_a', signal, () => 'judged')
  run.abort(new Error('canceled'))
  for (const one of off) await assert.rejects(one, /canceled/)
  assert.deepEqual([await behind, judged], ['judged', 0])
})

test('a text that cannot be judged says so to its own row alone', async () => {
  const turns = new TextTurns()
  await turns.run('proj_a', signal, () => busy(12))
  const bad = turns.run('proj_a', signal, () => assert.fail('unreadable'))
  const good = turns.run('proj_a', signal, () => 'judged')
  await assert.rejects(bad, /unreadable/)
  assert.equal(await good, 'judged')
})
