import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createLog } from '../telemetry/log.ts'
import { DurableCounts } from './counts.ts'
import { fenced } from './fence.ts'
import { bind, handler } from './handler.ts'
import { Finished, Superseded } from './step-over.ts'
import { runStep, StepFailed } from './run-step.ts'

const silent = createLog({ level: 'silent', pretty: false, name: 'test' })

function step(run: () => Promise<void>, signal = new AbortController().signal) {
  const declared = handler<object, null>({
    name: 'test.take-step',
    stepTimeoutMs: 1_000,
    outstanding: async () => [],
    run,
  })
  return { handler: bind(declared, {}), input: null, key: 'row:1', invocationId: 'inv_1', signal }
}

test('a superseded or finished step counts as success for the engine', async () => {
  const counts = new DurableCounts()
  const told = { log: silent, counts }
  for (const over of [new Superseded('taken over'), new Finished('nothing to do')]) {
    await runStep(
      step(async () => {
        throw over
      }),
      told,
    )
  }
  assert.equal(counts.read().stepsOver, 2)
})

test('the engine is told that a step failed, never what the error said', async () => {
  const counts = new DurableCounts()
  const told = { log: silent, counts }
  const failing = step(async () => {
    throw new TypeError('password is hunter2')
  })
  await assert.rejects(runStep(failing, told), (error: Error) => {
    assert.ok(error instanceof StepFailed)
    assert.equal(error.message, 'TypeError')
    assert.deepEqual({ cause: error.cause, stack: error.stack }, { cause: undefined, stack: '' })
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
