import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StoredItem } from '@switchyard/contracts/responses/items.ts'
import fc from 'fast-check'
import { modelContext, truncated } from './context.ts'

const said = (id: string): StoredItem => ({
  type: 'message',
  id,
  role: 'user',
  status: 'completed',
  content: [{ type: 'input_text', text: id }],
})
const call = (id: string): StoredItem => ({
  type: 'function_call',
  id: `fc_${id}`,
  call_id: id,
  name: 'f',
  arguments: '{}',
  status: 'completed',
})
const output = (id: string): StoredItem => ({
  type: 'function_call_output',
  id: `fco_${id}`,
  call_id: id,
  output: 'x',
  status: 'completed',
})

test('a model sees what the last compaction kept, its summary, and what came after', () => {
  const compaction = (id: string): StoredItem => ({ type: 'compaction', id, encrypted_content: id })
  const items = [said('a'), compaction('one'), said('b'), compaction('two'), said('c')]
  const shown = modelContext(items, ({ encrypted_content }) => ({ summary: encrypted_content, kept: [said('b')] }))
  assert.deepEqual(
    shown.map((item) => item.id),
    ['b', 'two', 'c'],
  )
  assert.match(JSON.stringify(shown[1]), /two/)
})

test('what fits is not touched', () => {
  const items = [said('a'), said('b')]
  assert.equal(
    truncated(items, () => true),
    items,
  )
})

test('the oldest go first, no more than needed, and no output stays without its call', () => {
  const pair = fc.string({ minLength: 1, maxLength: 4 }).map((id) => [call(id), output(id)])
  const one = fc.string({ minLength: 1, maxLength: 4 }).map((id) => [said(id)])
  fc.assert(
    fc.property(
      fc.array(fc.oneof(pair, one), { minLength: 1, maxLength: 12 }),
      fc.integer({ min: 1, max: 12 }),
      (groups, room) => {
        const items = groups.flat()
        const rest = truncated(items, (some) => some.length <= room)
        assert.ok(rest.length <= Math.max(1, room))
        assert.equal(rest.at(-1), items.at(-1))
        assert.deepEqual(
          rest,
          items.filter((item) => rest.includes(item)),
        )
      },
    ),
  )
  assert.deepEqual(
    truncated([said('x'), call('a'), output('a'), said('y')], (some) => some.length <= 2).map((item) => item.id),
    ['y'],
  )
})
