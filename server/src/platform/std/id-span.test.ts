import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { idSpan } from './id-span.ts'
import { newId } from './ids.ts'

const ms = fc.integer({ min: 0, max: 2 ** 48 - 1 })

test('an id made within a span of time, or its slack, lies between the ids of the span', () => {
  fc.assert(
    fc.property(
      ms,
      ms,
      fc.integer({ min: 1, max: 10_000 }),
      fc.constantFrom('resp_', 'chatcmpl-'),
      (a, b, slack, prefix) => {
        const [from, to] = [Math.min(a, b), Math.max(a, b)]
        const { above, below } = idSpan(prefix, { from: new Date(from), to: new Date(to) }, slack)
        for (const at of [from, Math.max(from - slack, 0), to]) {
          const id = newId(prefix, at)
          assert.ok(id >= above && (id < below || to + slack > 2 ** 48 - 1))
        }
        if (from > slack) assert.ok(newId(prefix, from - slack - 1) < above)
      },
    ),
  )
})

test('without a span every id of the kind lies between, and none of another', () => {
  const { above, below } = idSpan('resp_', {}, 0)
  for (const at of [0, Date.now(), 2 ** 48 - 1]) assert.ok(newId('resp_', at) > above && newId('resp_', at) < below)
  assert.ok(!('respx' > above && 'respx' < below) && !('resp-x' > above))
})
