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
