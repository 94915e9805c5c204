import fc from 'fast-check'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asksMax, frontMsMax, patienceMs, WorkLine, type Answer, type Time } from './work-line.ts'

/** Time that passes only when it is told to. */
class TestTime implements Time {
  #now = 0
  readonly #alarms = new Set<{ at: number; run: () => void }>()

  now(): number {
    return this.#now
  }

  wake(afterMs: number, run: () => void): () => void {
    const alarm = { at: this.#now + afterMs, run }
    this.#alarms.add(alarm)
    return () => this.#alarms.delete(alarm)
  }

  /** To the next alarm. False: nobody sleeps. */
  async next(): Promise<boolean> {
    await settled()
    const [first] = [...this.#alarms].toSorted((a, b) => a.at - b.at)
    if (first === undefined) return false
    this.#alarms.delete(first)
    this.#now = Math.max(this.#now, first.at)
    first.run()
    await settled()
    return true
  }

  get sleepers(): number {
    return this.#alarms.size
  }
}

/** Everything that needs no time is done. */
const settled = () => new Promise((resolve) => setImmediate(resolve))

const refuse = () => new Error('refused')

/** A bucket that gives one out every so often, after a burst; as the limiter answers. */
class TestBucket {
  readonly #time: TestTime
  readonly #everyMs: number
  #freeAt: number
  readonly order: number[] = []
  readonly asks: { id: number; asker: string; at: number }[] = []
  readonly left: number[] = []
  asking = 0
  askingMost = 0
  notes = 0

  constructor(time: TestTime, everyMs: number, burst: number) {
    this.#time = time
    this.#everyMs = everyMs
    this.#freeAt = -everyMs * burst
  }

  work(id: number) {
    return {
      ask: async (asker: string): Promise<Answer<number>> => {
        this.asks.push({ id, asker, at: this.#time.now() })
        this.asking += 1
        this.askingMost = Math.max(this.askingMost, this.asking)
        const now = this.#time.now()
        const waitMs = this.#freeAt + this.#everyMs - now
        if (waitMs <= 0) {
          this.#freeAt += this.#everyMs
          this.order.push(id)
        }
        await settled()
        this.asking -= 1
        if (waitMs <= 0) return { is: 'in', given: id }
        return { is: 'later', waitMs, refuse, note: () => (this.notes += 1) }
      },
      left: () => void this.left.push(id),
    }
  }
}

const never = new AbortController().signal
const turnsMax = 10_000

async function runOut(time: TestTime, until: () => boolean): Promise<void> {
  for (let turn = 0; turn < turnsMax && !until(); turn += 1) await time.next()
  assert.ok(until(), 'it does not come to an end')
}

test('work is let in in the order in which it came, as fast as the bucket gives, without bouncing off it', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 120 }),
      fc.integer({ min: 0, max: 80 }),
      fc.integer({ min: 1, max: 2_000 }),
      async (callers, burst, everyMs) => {
        const time = new TestTime()
        const bucket = new TestBucket(time, everyMs, burst)
        const line = new WorkLine<number>(time)
        let done = 0
        const all = Array.from({ length: callers }, (_, id) =>
          line.enter(bucket.work(id), never).finally(() => (done += 1)),
        )
        await runOut(time, () => done === callers)
        assert.deepEqual(
          await Promise.all(all),
          all.map((_, id) => id),
        )
        assert.deepEqual(
          bucket.order,
          all.map((_, id) => id),
        )
        assert.equal(time.now(), Math.max(0, callers - burst) * everyMs, 'no time is lost')
        assert.ok(bucket.askingMost <= asksMax)
        // Those who asked together with the first that was told to wait, and then two for each.
        assert.ok(bucket.asks.length <= 2 * callers + asksMax, `${bucket.asks.length} asks of ${callers}`)
        assert.ok(bucket.notes <= time.now() / 1_000 + 1)
        assert.deepEqual([line.isEmpty, time.sleepers, bucket.left], [true, 0, []])
      },
    ),
    { numRuns: 60 },
  )
})

test('while nobody is told to wait nobody stands behind the round trip of another', async () => {
  const time = new TestTime()
  const bucket = new TestBucket(time, 1, 1_000)
  const line = new WorkLine<number>(time)
  const all = Array.from({ length: 100 }, (_, id) => line.enter(bucket.work(id), never))
  assert.equal(bucket.asking, asksMax)
  await Promise.all(all)
  assert.deepEqual([bucket.asks.length, bucket.askingMost], [100, asksMax])
})

test('once one is told to wait only the first asks, and takes one slot', async () => {
  const time = new TestTime()
  const bucket = new TestBucket(time, 100, 0)
  const line = new WorkLine<number>(time)
  const first = line.enter(bucket.work(0), never)
  await settled()
  await settled()
  const rest = [1, 2, 3].map((id) => line.enter(bucket.work(id), never))
  await runOut(time, () => bucket.order.length === 4)
  await Promise.all([first, ...rest])
  assert.equal(bucket.askingMost, 1)
  assert.deepEqual(
    bucket.asks.map(({ id, asker, at }) => [id, asker, at]),
    [0, 1, 2, 3].flatMap((id) => [
      [id, 'work', id * 100],
      [id, 'slot', (id + 1) * 100],
    ]),
  )
})

test('who gives up leaves the line at once, wherever it stands, and the others keep their order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(fc.integer({ min: 0, max: 39 }), { maxLength: 40 }),
      fc.integer({ min: 0, max: 10 }),
      async (leaving, burst) => {
        const time = new TestTime()
        const bucket = new TestBucket(time, 50, burst)
        const line = new WorkLine<number>(time)
        const aborts = Array.from({ length: 40 }, () => new AbortController())
        const ends = aborts.map((abort, id) =>
          line.enter(bucket.work(id), abort.signal).then(
            () => 'in',
            (error: unknown) => (error as Error).message,
          ),
        )
        await settled()
        await time.next()
        const before = new Set(bucket.order)
        for (const id of leaving) aborts[id]?.abort(new Error('gone'))
        for (const id of leaving) if (!before.has(id)) assert.equal(await ends[id], 'gone')
        const stay = aborts.flatMap((_, id) => (leaving.includes(id) && !before.has(id) ? [] : [id]))
        await runOut(time, () => stay.every((id) => bucket.order.includes(id)))
        await Promise.all(ends)
        assert.deepEqual(
          bucket.order.filter((id) => stay.includes(id)),
          stay,
        )
        assert.deepEqual(
          bucket.left.toSorted((a, b) => a - b),
          leaving.filter((id) => !before.has(id)).toSorted((a, b) => a - b),
        )
        assert.deepEqual([line.isEmpty, time.sleepers], [true, 0])
      },
    ),
    { numRuns: 60 },
  )
})

test('many that leave together ask nobody, and the next comes at the slot of the first', async () => {
  const time = new TestTime()
  const bucket = new TestBucket(time, 100, 0)
  const line = new WorkLine<number>(time)
  const leaving = new AbortController()
  const first = line.enter(bucket.work(0), leaving.signal)
  await settled()
  await settled()
  const gone = [first, ...[1, 2, 3].map((id) => line.enter(bucket.work(id), leaving.signal))]
  const last = line.enter(bucket.work(4), never)
  leaving.abort(new Error('gone'))
  for (const one of gone) await assert.rejects(one, /gone/)
  await runOut(time, () => bucket.order.length === 1)
  assert.equal(await last, 4)
  assert.deepEqual(
    bucket.asks.map(({ id, asker, at }) => [id, asker, at]),
    [
      [0, 'work', 0],
      [4, 'slot', 100],
    ],
  )
})

test('who is let in after it has left gives back what it was given', async () => {
  const line = new WorkLine<number>(new TestTime())
  const leaving = new AbortController()
  const back: (number | null)[] = []
  const ask = Promise.withResolvers<Answer<number>>()
  const end = line.enter({ ask: () => ask.promise, left: (given) => void back.push(given) }, leaving.signal)
  leaving.abort(new Error('gone'))
  await assert.rejects(end, /gone/)
  assert.deepEqual(back, [])
  ask.resolve({ is: 'in', given: 7 })
  await settled()
  assert.deepEqual(back, [7])
  await assert.rejects(line.enter({ ask: () => ask.promise, left: () => undefined }, leaving.signal), /gone/)
})

test('a wait beyond all patience is a refusal, and so is one that never ends', async () => {
  const time = new TestTime()
  const line = new WorkLine<number>(time)
  const told = (waitMs: number) => async (): Promise<Answer<number>> => ({
    is: 'later',
    waitMs,
    refuse,
    note: () => undefined,
  })
  await assert.rejects(line.enter({ ask: told(patienceMs + 1), left: () => undefined }, never), /refused/)
  let ended = false
  const end = line.enter({ ask: told(1_000), left: () => undefined }, never).finally(() => (ended = true))
  const refused = assert.rejects(end, /refused/)
  await runOut(time, () => ended)
  await refused
  assert.ok(time.now() >= frontMsMax && time.now() < frontMsMax + 10_000)
})

test('while nobody can say the first asks every second, and after all patience the line is told so', async () => {
  const time = new TestTime()
  const line = new WorkLine<number>(time)
  let asks = 0
  let ended = 0
  const ask = async (): Promise<Answer<number>> => {
    asks += 1
    return { is: 'unknown', error: new Error('nobody knows') }
  }
  const ends = Array.from({ length: 50 }, () =>
    assert.rejects(
      line.enter({ ask, left: () => undefined }, never).finally(() => (ended += 1)),
      /nobody knows/,
    ),
  )
  await runOut(time, () => ended === 50)
  await Promise.all(ends)
  assert.ok(time.now() >= patienceMs && time.now() < patienceMs + 10_000, `${time.now()} ms`)
  assert.ok(asks < patienceMs / 1_000 + 100, `${asks} asks`)
})
