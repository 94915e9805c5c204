import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { OutputItem } from '@switchyard/contracts/responses/items.ts'
import { testAsked } from '../testing/asked.ts'
import { noUsage, type LiveResponse } from './live-response.ts'
import { movesMax, nextMove } from './next-move.ts'

const live = (output: OutputItem[], more: Partial<LiveResponse> = {}): LiveResponse => ({
  id: 'resp_1',
  projectId: 'proj_1',
  metering: null,
  asked: testAsked(),
  context: [],
  output,
  usage: noUsage,
  nextOutputIndex: output.length,
  turns: 0,
  ...more,
})

const message: OutputItem = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content: [] }
const shell = (call_id: string, hosted: boolean): OutputItem => ({
  type: 'shell_call',
  id: `sh_${call_id}`,
  call_id,
  status: hosted ? 'completed' : 'in_progress',
  action: { commands: ['ls'] },
  environment: hosted ? { type: 'container_reference', container_id: 'cntr_1' } : { type: 'local' },
})
const shellOutput = (call_id: string): OutputItem => ({
  type: 'shell_call_output',
  id: `sho_${call_id}`,
  call_id,
  status: 'completed',
  output: [],
})
const fn: OutputItem = {
  type: 'function_call',
  id: 'fc_1',
  call_id: 'f',
  name: 'f',
  arguments: '{}',
  status: 'completed',
}
const compaction: OutputItem = { type: 'compaction', id: 'cmp_1', encrypted_content: 'x' }

const kindOf = (output: OutputItem[], more: Partial<LiveResponse> = {}, tokens = 0) =>
  nextMove(live(output, more), () => tokens).kind

test('a response begins with a turn and ends when the model has spoken', () => {
  assert.equal(kindOf([]), 'turn')
  assert.equal(kindOf([message]), 'end')
})

test('hosted shell calls are run one after the other, then the model goes on', () => {
  const both = [shell('a', true), shell('b', true)]
  const first = nextMove(live(both), () => 0)
  assert.equal(first.kind === 'shell' && first.call.call_id, 'a')
  const second = nextMove(live([...both, shellOutput('a')]), () => 0)
  assert.equal(second.kind === 'shell' && second.call.call_id, 'b')
  assert.equal(kindOf([...both, shellOutput('a'), shellOutput('b')]), 'turn')
})

test('a call for the client ends the response, after what is ours has been run', () => {
  assert.equal(kindOf([shell('a', false)]), 'end')
  assert.equal(kindOf([fn]), 'end')
  assert.equal(kindOf([shell('a', true), fn]), 'shell')
  assert.equal(kindOf([shell('a', true), fn, shellOutput('a')]), 'end')
})

test('a context beyond the threshold is compacted once, and then the turn is taken', () => {
  const asked = testAsked({ context_management: [{ type: 'compaction', compact_threshold: 1_000 }] })
  assert.equal(kindOf([], { asked }, 999), 'turn')
  assert.equal(kindOf([], { asked }, 1_001), 'compact')
  assert.equal(kindOf([compaction], { asked }, 5_000), 'turn')
})

test('a trigger compacts whatever the size', () => {
  const asked = testAsked({}, { compactNow: true })
  assert.equal(kindOf([], { asked }), 'compact')
  assert.equal(kindOf([compaction], { asked }), 'turn')
})

test('a response that goes round in circles fails and says so', () => {
  const move = nextMove(live([], { turns: movesMax }), () => 0)
  assert.ok(move.kind === 'end' && move.ending.status === 'failed')
  assert.match(move.ending.error.message, /did not come to an end/)
})
