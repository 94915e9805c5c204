import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StoredItem } from '@switchyard/contracts/responses/items.ts'
import fc from 'fast-check'
import { ContextBudget, contextsPerLaneMax, KeptContexts, lanesKeptMax } from './kept-contexts.ts'

function message(id: string, letters = 10): StoredItem {
  const content = [{ type: 'input_text' as const, text: 'x'.repeat(letters) }]
  return { type: 'message', id, role: 'user', status: 'completed', content }
}

const sizeOf = (items: readonly StoredItem[]) => items.reduce((sum, item) => sum + JSON.stringify(item).length, 0)

test('a lane keeps its last eight contexts', () => {
  const contexts = new KeptContexts(new ContextBudget())
  for (let turn = 0; turn < 10; turn += 1) contexts.keep('', `r${turn}`, { items: [message(`m${turn}`)], stored: true })
  assert.equal(contexts.find('r1'), null)
  assert.equal(contexts.find('r2')?.items.length, 1)
  contexts.keep('other', 'r10', { items: [], stored: false })
  assert.notEqual(contexts.find('r2'), null)
})

test('of too many lanes the one longest unused loses its contexts', () => {
  const contexts = new KeptContexts(new ContextBudget())
  for (let lane = 0; lane <= lanesKeptMax; lane += 1) contexts.keep(`l${lane}`, `r${lane}`, { items: [], stored: true })
  assert.equal(contexts.find('r0'), null)
  assert.notEqual(contexts.find('r1'), null)
})

test('turns of one conversation count what they share once', () => {
  const budget = new ContextBudget()
  const contexts = new KeptContexts(budget)
  const items: StoredItem[] = []
  for (let turn = 0; turn < contextsPerLaneMax; turn += 1) {
    items.push(message(`m${turn}`))
    contexts.keep('', `r${turn}`, { items: [...items], stored: true })
  }
  assert.equal(contexts.bytes, sizeOf(items))
  assert.equal(budget.bytes, contexts.bytes)
  contexts.clear()
  assert.deepEqual([contexts.bytes, budget.bytes], [0, 0])
})

test('a socket forgets its oldest contexts before it keeps more than it may', () => {
  const contexts = new KeptContexts(new ContextBudget(), 1_000)
  contexts.keep('', 'a', { items: [message('m1', 400)], stored: true })
  contexts.keep('', 'b', { items: [message('m2', 400)], stored: true })
  assert.equal(contexts.find('a'), null)
  assert.notEqual(contexts.find('b'), null)
  contexts.keep('', 'c', { items: [message('m3', 2_000)], stored: true })
  assert.deepEqual([contexts.find('b'), contexts.find('c'), contexts.bytes], [null, null, 0])
})

test('sockets together keep no more than the process may, oldest first', () => {
  const budget = new ContextBudget(1_000)
  const [one, two] = [new KeptContexts(budget), new KeptContexts(budget)]
  one.keep('', 'a', { items: [message('m1', 400)], stored: true })
  two.keep('', 'b', { items: [message('m2', 400)], stored: true })
  assert.equal(one.find('a'), null)
  assert.notEqual(two.find('b'), null)
  assert.equal(budget.bytes, one.bytes + two.bytes)
})

test('whatever is kept and forgotten, the count is that of the items held', () => {
  const pool = Array.from({ length: 12 }, (_none, index) => message(`m${index}`, index * 20))
  const step = fc.record({
    lane: fc.constantFrom('', 'a', 'b'),
    id: fc.constantFrom('r1', 'r2', 'r3', 'r4', 'r5'),
    picked: fc.uniqueArray(fc.nat(11), { maxLength: 6 }),
    forget: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const budget = new ContextBudget(1_500)
      const contexts = new KeptContexts(budget, 1_000)
      for (const { lane, id, picked, forget } of steps) {
        if (forget) contexts.forget(id)
        else contexts.keep(lane, id, { items: picked.flatMap((at) => pool[at] ?? []), stored: true })
        const held = new Set(['r1', 'r2', 'r3', 'r4', 'r5'].flatMap((one) => contexts.find(one)?.items ?? []))
        assert.equal(contexts.bytes, sizeOf([...held]))
        assert.equal(budget.bytes, contexts.bytes)
        assert.ok(contexts.bytes <= 1_000)
      }
    }),
  )
})
