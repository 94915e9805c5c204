import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import test from 'node:test'
import { recordProcess } from '../processes.ts'
import { withLock } from './lock-file.ts'
import { scratch } from './testing/scratch.ts'

const BOUND_MS = 10_000

test('work under one lock is done by one at a time, in whatever order', async (t) => {
  const file = join(scratch(t).folder, 'lock')
  let inside = 0
  let most = 0
  const done = await Promise.all(
    [1, 2, 3, 4, 5].map(
      async (number) =>
        await withLock(file, BOUND_MS, async () => {
          inside += 1
          most = Math.max(most, inside)
          await turn()
          inside -= 1
          return number
        }),
    ),
  )
  assert.deepEqual(done, [1, 2, 3, 4, 5])
  assert.equal(most, 1)
  assert.ok(!existsSync(file))
})

test('work that fails gives the lock back', async (t) => {
  const file = join(scratch(t).folder, 'lock')
  const failing = async () => await Promise.reject(new Error('no'))
  await assert.rejects(withLock(file, BOUND_MS, failing), /^Error: no$/)
  assert.equal(await withLock(file, BOUND_MS, async () => await Promise.resolve('yes')), 'yes')
})

test('the lock of a process that died is taken over; that of a living one is waited for, with a bound', async (t) => {
  const file = join(scratch(t).folder, 'lock')
  const holder = spawn('sleep', ['60'])
  t.after(() => holder.kill('SIGKILL'))
  await once(holder, 'spawn')
  recordProcess(file, holder.pid!)
  const work = async () => await Promise.resolve('done')
  await assert.rejects(withLock(file, 100, work), /held by another process for more than 100 ms/)
  holder.kill('SIGKILL')
  await once(holder, 'exit')
  assert.equal(await withLock(file, BOUND_MS, work), 'done')
})
