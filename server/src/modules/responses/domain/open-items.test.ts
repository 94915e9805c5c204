import assert from 'node:assert/strict'
import { test } from 'node:test'
import { closings, toldBy } from './open-items.ts'

const message = { type: 'message', id: 'msg_1', role: 'assistant', status: 'in_progress', content: [] }
const line = (event: object) => JSON.stringify(event)

test('what a dead attempt left open is closed as incomplete, and numbers go on', () => {
  const told = toldBy(
    [
      line({ type: 'response.in_progress', sequence_number: 2, response: {} }),
      line({ type: 'response.output_item.added', sequence_number: 3, output_index: 0, item: message }),
      line({ type: 'response.output_item.done', sequence_number: 4, output_index: 0, item: message }),
      line({
        type: 'response.output_item.added',
        sequence_number: 5,
        output_index: 1,
        item: { ...message, id: 'msg_2' },
      }),
    ],
    { nextNumber: 2, nextOutputIndex: 0 },
  )
  assert.equal(told.nextNumber, 6)
  assert.equal(told.nextOutputIndex, 2)
  assert.equal(told.inProgress, true)
  assert.deepEqual(closings(told), [
    {
      type: 'response.output_item.done',
      output_index: 1,
      item: { ...message, id: 'msg_2', status: 'incomplete' },
    },
  ])
})

test('nothing told, nothing to close', () => {
  const told = toldBy([], { nextNumber: 7, nextOutputIndex: 3 })
  assert.deepEqual([told.nextNumber, told.nextOutputIndex, closings(told)], [7, 3, []])
})

const output = { type: 'shell_call_output', id: 'sho_1', call_id: 'call_1', status: 'in_progress', output: [] }
const delta = (sequence_number: number, command_index: number, given: object) =>
  line({
    type: 'response.shell_call_output_content.delta',
    sequence_number,
    output_index: 4,
    item_id: 'sho_1',
    command_index,
    delta: given,
  })

test('the output of a shell call is gone on with: it stays open, and what was shown of it is known', () => {
  const told = toldBy(
    [
      line({ type: 'response.output_item.added', sequence_number: 9, output_index: 4, item: output }),
      delta(10, 0, { stdout: 'one ' }),
      delta(11, 1, { stderr: 'oh' }),
      delta(12, 0, { stdout: 'two' }),
    ],
    { nextNumber: 9, nextOutputIndex: 4 },
  )
  assert.deepEqual(told.shellOutput, {
    item: output,
    outputIndex: 4,
    done: false,
    shown: [
      { stdout: 7, stderr: 0 },
      { stdout: 0, stderr: 2 },
    ],
  })
  assert.deepEqual(closings(told, told.shellOutput), [])
  assert.equal(closings(told).length, 1, 'whoever stops the response closes it')
})

test('an output that was shown to its end is known as it was shown', () => {
  const ended = { ...output, status: 'completed' }
  const told = toldBy(
    [
      line({ type: 'response.output_item.added', sequence_number: 0, output_index: 0, item: output }),
      line({ type: 'response.output_item.done', sequence_number: 1, output_index: 0, item: ended }),
    ],
    { nextNumber: 0, nextOutputIndex: 0 },
  )
  assert.deepEqual([told.shellOutput?.done, told.shellOutput?.item], [true, ended])
})
