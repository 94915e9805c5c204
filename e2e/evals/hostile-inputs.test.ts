import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseLine, rowBytesMax } from '#modules/evals/domain/parse-row.ts'
import { hostileInputs } from './hostile-inputs.ts'

const linesFrom = 60
const inputsFrom = 200

test('the list of hostile inputs is long, and each has a name of its own', () => {
  assert.ok(hostileInputs.length >= inputsFrom, `${hostileInputs.length} inputs`)
  assert.ok(hostileInputs.filter(({ kind }) => kind === 'line').length >= linesFrom)
  assert.equal(new Set(hostileInputs.map(({ name }) => name)).size, hostileInputs.length)
})

test('a line is as many lines as it says', () => {
  for (const input of hostileInputs) {
    if (input.kind !== 'line') continue
    const lines = Buffer.from(input.line()).toString('latin1').split('\n')
    assert.equal(lines.length, input.rows ?? 1, input.name)
  }
})

test('a line that is no row says so when it is read', () => {
  for (const input of hostileInputs) {
    if (input.kind !== 'line') continue
    const content = Buffer.from(input.line())
    const cut = content.indexOf('\n') < 0 ? content : content.subarray(0, content.indexOf('\n'))
    const read = parseLine(cut.length > rowBytesMax ? null : cut, 7)
    if ('error' in read) {
      assert.equal(input.expects, 'row_error', input.name)
      if (input.expects === 'row_error') assert.match(read.error.message, input.reason, input.name)
    } else {
      // What is left is for the schema to say.
      assert.ok(input.expects === 'row_ok' || input.reason.test('Line 7: item'), input.name)
    }
  }
})
