import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { clip, duration, inColour, plain, printable, table, widthOf } from './display.ts'
import { Pace, progressLine, type Progress } from './progress.ts'
import { columnsOf } from './screen.ts'

const progress = (done: number, rowsTotal: number | null, more: Partial<Progress> = {}): Progress => {
  const failed = Math.floor(done / 10)
  const errored = Math.floor(done / 50)
  return {
    status: 'in_progress',
    counts: { total: done, passed: done - failed - errored, failed, errored },
    rowsTotal,
    rowsPerSecond: 312.4,
    elapsedMs: 15_000,
    trouble: null,
    ...more,
  }
}

test('a wide terminal shows a bar, every count, the speed and the time left', () => {
  assert.equal(
    progressLine(progress(5_200, 100_000), 120, plain),
    '█░░░░░░░░░░░░░░░░░░░░░░░░░░░░░  5.2 %  5,200/100,000  4,576 passed, 520 failed, 104 errored  312 rows/s  5 min 3 s left',
  )
  assert.equal(
    progressLine(progress(5, 10, { rowsPerSecond: 1.25 }), 120, plain),
    '███████████████░░░░░░░░░░░░░░░  50.0 %  5/10  5 passed, 0 failed, 0 errored  1.3 rows/s  4 s left',
  )
})

test('a usual and a narrow one leave out what matters least', () => {
  const at = (columns: number) => progressLine(progress(5_200, 100_000), columns, plain)
  assert.equal(at(79), '░░░░░░  5.2 %  5,200/100,000  4,576 ✓ 520 ✗ 104 !  312 rows/s  5 min 3 s left')
  assert.equal(at(60), '5.2 %  5,200/100,000  4,576 ✓ 520 ✗ 104 !  5 min 3 s left')
  assert.equal(at(39), '░░░░░░░░░░  5.2 %  4,576 ✓ 520 ✗ 104 !')
  assert.equal(at(19), '4,576 ✓ 520 ✗ 104 !')
})

test('where only the server knows the number of rows, none is made up', () => {
  assert.equal(
    progressLine(progress(5_200, null), 120, plain),
    '5,200  4,576 passed, 520 failed, 104 errored  312 rows/s',
  )
})

test('a run that has not begun, and a server that is away, are said in words', () => {
  assert.equal(progressLine(progress(0, 0, { status: 'queued' }), 80, plain), 'Waiting to start, 15 s')
  assert.equal(progressLine(progress(0, 0, { status: 'queued', elapsedMs: 0 }), 80, plain), 'Waiting to start')
  assert.equal(progressLine(progress(1, 2, { trouble: 'away; trying again' }), 10, plain), 'away; try…')
})

test('no line is ever wider than the terminal', () => {
  const count = fc.nat(10_000_000)
  fc.assert(
    fc.property(count, fc.option(count), fc.integer({ min: 19, max: 250 }), (done, total, columns) => {
      const line = progressLine(progress(done, total), columns, inColour)
      assert.ok(widthOf(line.replaceAll(/\u001b\[\d+m/g, '')) <= columns)
    }),
  )
})

test('the speed is that of the last while', () => {
  const pace = new Pace()
  assert.equal(pace.rowsPerSecond(), null)
  for (let second = 0; second <= 100; second += 1) pace.add(second * 1_000, second < 50 ? 0 : (second - 50) * 10)
  assert.equal(pace.rowsPerSecond(), 10)
})

test('what a model wrote cannot steer the terminal', () => {
  assert.equal(printable('a\u001b[31mred\u0007\r\nb\u202e!'), 'a [31mred b !')
  fc.assert(fc.property(fc.uint16Array(), (codes) => !/[\p{Cc}\p{Zl}]/u.test(printable(String.fromCharCode(...codes)))))
})

test('texts are cut to columns, not to characters', () => {
  assert.deepEqual([widthOf('日本語'), widthOf('👩‍👩‍👧'), widthOf('é')], [6, 2, 1])
  assert.deepEqual([clip('日本語', 5), clip('日本語', 6), clip('abc', 0), clip('', 3)], ['日本…', '日本語', '', ''])
  assert.deepEqual(
    table(
      ['Name', 'n'],
      [
        ['日本', '1,000'],
        ['a long name of something', '2'],
      ],
      20,
    ),
    ['  Name             n', '  日本         1,000', '  a long nam…      2'],
  )
})

test('times are short', () => {
  assert.deepEqual([duration(850), duration(61_000), duration(7_800_000)], ['850 ms', '1 min 1 s', '2 h 10 min'])
})

test('a log has room for every word, and a terminal that does not know its width the usual room', () => {
  const write = () => true
  assert.equal(columnsOf({ write }), 200)
  assert.deepEqual(
    [0, 5, 120].map((columns) => columnsOf({ write, isTTY: true, columns })),
    [80, 20, 120],
  )
})
