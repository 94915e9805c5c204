import assert from 'node:assert/strict'
import { test } from 'node:test'
import { outputItemId, rowOfOutputItem } from './output-item-view.ts'

test('the id of an output item names its row in its own run only', () => {
  const id = outputItemId('evalrun_abc', 42)
  assert.equal(id, 'outputitem_abc_42')
  assert.equal(rowOfOutputItem('evalrun_abc', id), 42)
  assert.equal(rowOfOutputItem('evalrun_abd', id), null)
  for (const other of ['outputitem_abc_042', 'outputitem_abc_-1', 'outputitem_abc_', 'outputitem_abc', 'abc_42', '']) {
    assert.equal(rowOfOutputItem('evalrun_abc', other), null)
  }
})
