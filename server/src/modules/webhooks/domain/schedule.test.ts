import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { nextAttemptAt, parseRetryAfter, spanMs } from './schedule.ts'

const start = new Date('2026-11-15T00:00:00Z')
const hour = 3_600_000

/** Every attempt of a delivery to an endpoint that never answers well. */
function attempts(random: () => number, scale = 1, retryAfterMs: number | null = null): number[] {
  const at = [0]
  for (let made = 1; made < 100; made += 1) {
    const now = new Date(start.getTime() + at.at(-1)!)
    const next = nextAttemptAt({ made, firstAt: start, now, retryAfterMs, scale, random: random() })
    if (next === null) return at
    at.push(next.getTime() - start.getTime())
  }
  throw new Error('the schedule does not end')
}

// S3-6-f: retried with exponential backoff for up to 72 hours
test('a dead endpoint is tried over the whole 72 hours, ever more rarely, and not beyond', (t) => {
  fc.assert(
    fc.property(fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { minLength: 40, maxLength: 40 }), (randoms) => {
      let index = 0
      const at = attempts(() => randoms[index++ % randoms.length]!)
      assert.ok(at.length >= 16 && at.length <= 20, `${at.length} attempts`)
      assert.ok(at.at(-1)! > 71 * hour && at.at(-1)! <= spanMs)
      const waits = at.slice(1).map((time, after) => time - at[after]!)
      for (const [after, wait] of waits.slice(0, 8).entries()) {
        const nominal = [5, 30, 120, 600, 1_800, 3_600, 7_200, 14_400][after]! * 1_000
        assert.ok(wait >= nominal * 0.9 - 1 && wait <= nominal * 1.1 + 1, `wait ${after} was ${wait}`)
      }
    }),
  )
  const printed = attempts(() => 0.5).map((ms) => `+${(ms / hour).toFixed(2)} h`)
  t.diagnostic(printed.join(', '))
})

test('a scaled schedule is the same schedule, smaller', () => {
  const whole = attempts(() => 0.5)
  const small = attempts(() => 0.5, 0.001)
  assert.equal(small.length, whole.length)
  for (const [index, ms] of small.entries()) assert.ok(Math.abs(ms - whole[index]! * 0.001) <= small.length)
})

test('Retry-After postpones an attempt and never beyond the 72 hours', () => {
  const failure = { made: 1, firstAt: start, now: start, scale: 1, random: 0.5 }
  assert.equal(nextAttemptAt({ ...failure, retryAfterMs: hour })?.getTime(), start.getTime() + hour)
  assert.equal(nextAttemptAt({ ...failure, retryAfterMs: 1 })?.getTime(), start.getTime() + 5_000)
  assert.equal(nextAttemptAt({ ...failure, retryAfterMs: 500 * hour })?.getTime(), start.getTime() + spanMs)
})

test('Retry-After is read as seconds or as a date, and nonsense is ignored', () => {
  assert.equal(parseRetryAfter('120', start), 120_000)
  assert.equal(parseRetryAfter('Sun, 15 Nov 2026 00:01:00 GMT', start), 60_000)
  for (const text of [undefined, '', '-5', 'soon', 'Sat, 14 Nov 2026 00:00:00 GMT', '1e9'])
    assert.equal(parseRetryAfter(text, start), null)
})
