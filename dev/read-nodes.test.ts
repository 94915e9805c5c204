import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readNodes } from './read-nodes.ts'

test('one process runs everything unless told otherwise', () => {
  assert.deepEqual(readNodes(undefined, false), { all: 1 })
  assert.deepEqual(readNodes(undefined, true), { api: 1, worker: 1, sandbox: 1 })
  assert.deepEqual(readNodes('api=2', false), { api: 2, worker: 1, sandbox: 1 })
})

test('a role that does not exist is refused with those that do', () => {
  for (const text of ['ap=2', 'api=0', 'api=9', 'api', 'api=2;worker=2'])
    assert.throws(() => readNodes(text, false), /role=count/)
})
