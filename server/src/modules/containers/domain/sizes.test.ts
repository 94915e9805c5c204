import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MemoryLimit } from '@switchyard/contracts/containers.ts'
import { diskBytesOf, memoryBytesOf } from './sizes.ts'

const gib = 1024 ** 3

// S1-2.3-b S1-8.4
test('a memory limit is what its name says, and the disk is ten times as large', () => {
  const sizes = MemoryLimit.options.map((limit) => [
    memoryBytesOf(limit) / gib,
    diskBytesOf(memoryBytesOf(limit)) / gib,
  ])
  assert.deepEqual(sizes, [
    [1, 10],
    [4, 40],
    [16, 160],
    [64, 640],
  ])
  assert.equal(diskBytesOf(1) / gib, 10)
})
