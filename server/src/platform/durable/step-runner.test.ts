import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLog } from '../telemetry/log.ts'
import { DurableCounts } from './counts.ts'
import { fenced } from './fence.ts'
import { bind, handler } from './handler.ts'
import { Finished, Superseded } from './step-over.ts'
import { StepFailed, StepRunner } from './step-runner.ts'

const silent = createLog({ level: 'silent', pretty: false, name: 'test' })

function newRunner(stepsMax: number) {
  const counts = new DurableCounts()
  return { counts, runner: new StepRunner({ log: silent, counts, stepsMax }) }
}

function step(run: () => Promise<void>, signal = new AbortController().signal) {
  const declared = handler<object, null>({
    name: 'test.take-step',
    stepTimeoutMs: 1_000,
    outstanding: async () => [],
    run,
  })
  return { handler: bind(declared, {}), input: null, key: 'row:1', invocationId: 'inv_1', signal }
}

test('a worker never runs more steps at once than it was told to', async () => {
  const { runner, counts } = newRunner(3)
  let running = 0
  let atOnceMax = 0
  const one = step(async () => {
    running += 1
    atOnceMax = Math.max(atOnceMax, running)
    await new Promise((resolve) => setImmediate(resolve))
    running -= 1
  })
  await Promise.all(Array.from({ length: 20 }, () => runner.run(one)))
  await runner.idle()
  assert.equal(atOnceMax, 3)
  assert.equal(runner.running, 0)
  assert.equal(counts.read().stepsDone, 20)
})

test('a step that the engine gave up while it waited for a place never begins', async () => {
  const { runner, counts } = newRunner(1)
  const gate = Promise.withResolvers<void>()
  const first = runner.run(step(() => gate.promise))
  const givenUp = new AbortController()
  let begun = false
  const second = runner.run(
    step(async () => {
      begun = true
    }, givenUp.signal),
  )
  givenUp.abort()
  await assert.rejects(second, StepFailed)
  gate.resolve()
  await first
  await runner.run(step(async () => {}))
  assert.equal(begun, false)
  assert.deepEqual(counts.read().stepsDone, 2)
})

test('a superseded or finished step counts as success for the engine', async () => {
  const { runner, counts } = newRunner(1)
  await runner.run(
    step(async () => {
      throw new Superseded('taken over')
    }),
  )
  await runner.run(
    step(async () => {
      throw new Finished('nothing to do')
    }),
  )
  assert.equal(counts.read().stepsOver, 2)
})

test('the engine is told that a step failed, never what the error said', async () => {
  const { runner, counts } = newRunner(1)
  const failing = step(async () => {
    throw new TypeError('password is hunter2')
  })
  await assert.rejects(runner.run(failing), (error: Error) => {
    assert.ok(error instanceof StepFailed)
    assert.equal(error.message, 'TypeError')
    assert.equal(error.cause, undefined)
    return true
  })
  assert.equal(counts.read().stepsFailed, 1)
})

test('a fenced write that touched nothing ends the attempt', () => {
  fenced({ numUpdatedRows: 1n })
  fenced({ numDeletedRows: 2n })
  fenced([{ id: 1 }])
  for (const nothing of [{ numUpdatedRows: 0n }, { numDeletedRows: 0n }, {}, []]) {
    assert.throws(() => fenced(nothing), Superseded)
  }
})

test('a handler is named for its module and what it does', () => {
  const rest = { stepTimeoutMs: 1, outstanding: async () => [], run: async () => {} }
  handler({ name: 'evals.grade-chunk', ...rest })
  for (const name of ['grade', 'Evals.grade', 'evals.grade/chunk', "evals.grade'chunk", 'evals.']) {
    assert.throws(() => handler({ name, ...rest }), /module\.verb-noun/)
  }
})
