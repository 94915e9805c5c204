import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StoredItem } from '@switchyard/contracts/responses/items.ts'
import { Fault } from '#platform/errors/fault.ts'
import { checkAnswers, nameAnswers, settleCalls } from './answers.ts'

const call = (id: string, status: 'in_progress' | 'incomplete' = 'in_progress'): StoredItem => ({
  type: 'shell_call',
  id: `sh_${id}`,
  call_id: id,
  status,
  action: { commands: ['ls'] },
  environment: { type: 'local' },
})
const answer = (id: string): StoredItem => ({
  type: 'shell_call_output',
  id: `sho_${id}`,
  call_id: id,
  status: 'completed',
  output: [],
})
const local: StoredItem = {
  type: 'local_shell_call',
  id: 'lsh_1',
  call_id: 'call_1',
  status: 'in_progress',
  action: { type: 'exec', command: ['ls'], env: {} },
}

const says = (pattern: RegExp) => (error: unknown) =>
  error instanceof Fault && error.param === 'input' && pattern.test(error.message)

test('an output without its call is refused, and names the call', () => {
  assert.throws(() => checkAnswers([], [answer('a')]), says(/No shell call found .* a\./))
})

test('a call of the history without an output is refused, and names the call', () => {
  assert.throws(() => checkAnswers([call('a')], []), says(/No tool output found for shell call a\./))
  checkAnswers([call('a')], [answer('a')])
})

test('a second output for the same call is refused', () => {
  assert.throws(() => checkAnswers([call('a')], [answer('a'), answer('a')]), says(/two outputs for the call a/))
})

test('a call that was cut off needs no answer', () => {
  checkAnswers([call('a', 'incomplete')], [])
})

test('a call and its output may both come with the request', () => {
  checkAnswers([], [call('a'), answer('a')])
})

test('a local shell is answered by the id of its call, or by the call id', () => {
  for (const id of ['lsh_1', 'call_1']) {
    checkAnswers([local], [{ type: 'local_shell_call_output', id, output: '{}', status: 'completed' }])
  }
})

test('a call is in progress until its answer has come', () => {
  const [open] = settleCalls([call('a')])
  assert.equal(open?.type === 'shell_call' && open.status, 'in_progress')
  const [settled] = settleCalls([call('a'), answer('a')])
  assert.equal(settled?.type === 'shell_call' && settled.status, 'completed')
})

test('an answer under the id of a local shell call gets the other name of the call, wherever that was made', () => {
  const output = (id: string): StoredItem => ({ type: 'local_shell_call_output', id, output: '{}' })
  assert.deepEqual(nameAnswers([local], [output('lsh_1')]), [output('call_1')])
  assert.deepEqual(nameAnswers([], [local, output('lsh_1')]), [local, output('call_1')])
  assert.deepEqual(nameAnswers([local], [output('call_1'), answer('lsh_1')]), [output('call_1'), answer('lsh_1')])
})
