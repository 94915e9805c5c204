import fc from 'fast-check'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BatchReport, type RowOutcome } from './batch-report.ts'

function reportOf(rows: number): { report: BatchReport; told: [number, RowOutcome][] } {
  const told: [number, RowOutcome][] = []
  return { report: new BatchReport(rows, (row, outcome) => told.push([row, outcome])), told }
}

const lines = (...said: object[]) => said.map((one) => `${JSON.stringify(one)}\n`).join('')

test('a report is the same in whatever pieces it comes', () => {
  const text = lines(
    { begin: 0 },
    { n: 0, score: 0.5 },
    { begin: 1 },
    { n: 1, error: 'no' },
    { end: true, spoiled: null },
  )
  fc.assert(
    fc.property(fc.array(fc.nat(text.length)), (cuts) => {
      const { report, told } = reportOf(2)
      const at = [0, ...cuts.toSorted((a, b) => a - b), text.length]
      for (const [n, from] of at.slice(0, -1).entries()) report.add(text.slice(from, at[n + 1]))
      assert.deepEqual(told, [
        [0, { score: 0.5 }],
        [1, { reason: 'no' }],
      ])
      assert.deepEqual([report.begun, report.ended, report.spoiled, report.outcomes], [null, true, null, 2])
    }),
  )
})

test('a row that was begun and came to no end is known', () => {
  const { report } = reportOf(3)
  report.add(lines({ begin: 0 }, { n: 0, score: 1 }, { begin: 1 }))
  assert.deepEqual([report.begun, report.ended, report.outcomes], [1, false, 1])
})

test('what a grader writes in place of the report harms no row that is not begun, and none twice', () => {
  const { report, told } = reportOf(3)
  report.add(
    '{"n": 2, "score": 9}\nnot json\n[]\nnull\n7\n{"begin": 3}\n{"begin": -1}\n{"begin": 0.5}\n{"begin": "0"}\n',
  )
  assert.deepEqual(told, [])
  report.add(lines({ begin: 0 }, { n: 1, score: 9 }, { n: 0, score: 'high' }, { n: 0, score: 1 }, { begin: 0 }))
  report.add(lines({ begin: 1 }, { n: 1, error: 'a\0b\ud800' }, { end: true, spoiled: 'files' }))
  assert.deepEqual(told, [
    [0, { reason: 'it gave no reason' }],
    [1, { reason: 'a\uFFFDb\uFFFD' }],
  ])
  assert.deepEqual([report.begun, report.ended, report.spoiled], [null, true, 'files'])
})
