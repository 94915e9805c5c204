import { skillBytesMax } from '@switchyard/contracts/skills.ts'
import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import { receiveSkill, type HeldFolder } from './receive-skill.ts'

const megabyte = Buffer.alloc(1024 * 1024)
const incoming = (megabytes: number, filename = 'a') => ({
  filename,
  mimeType: 'text/plain',
  stream: Readable.from(Array.from({ length: megabytes }, () => megabyte)),
})
const largest = skillBytesMax / megabyte.length
const overloaded = { code: 'server_overloaded', retryAfterMs: 1_000 }

test('a process holds five of the largest uploads at once, and asks whoever comes next to come back', async () => {
  const receiver = receiveSkill()
  const held: HeldFolder[] = []
  for (let count = 0; count < 5; count += 1) held.push(await receiver.receive(incoming(largest)))
  await assert.rejects(receiver.receive(incoming(1)), overloaded)
  const [first, second] = held
  assert.ok(first !== undefined && second !== undefined)
  receiver.release(first)
  // Once for one upload, however often it is let go.
  receiver.release(first)
  await receiver.discard(first)
  held.push(await receiver.receive(incoming(largest)))
  await assert.rejects(receiver.receive(incoming(1)), overloaded)
  const joined = receiver.join([second])
  receiver.release(joined)
  receiver.release(second)
  await receiver.receive(incoming(largest))
  await assert.rejects(receiver.receive(incoming(1)), overloaded)
})

test('an upload that breaks off is held no longer', async () => {
  const receiver = receiveSkill()
  const broken = () => {
    async function* chunks() {
      for (let count = 0; count < largest; count += 1) yield megabyte
      throw new Error('cut')
    }
    return { filename: 'a', mimeType: 'text/plain', stream: Readable.from(chunks()) }
  }
  for (let count = 0; count < 8; count += 1) await assert.rejects(receiver.receive(broken()), /cut/)
})

test('the same files in the same order have the same digest, and no others', async () => {
  const receiver = receiveSkill()
  const digest = async (...files: [name: string, text: string][]) => {
    const parts = files.map(([filename, text]) => ({
      ...incoming(0, filename),
      stream: Readable.from([Buffer.from(text)]),
    }))
    return receiver.join(await Promise.all(parts.map((part) => receiver.receive(part)))).sha256
  }
  const told = [
    await digest(['a', 'x'], ['b', 'y']),
    await digest(['b', 'y'], ['a', 'x']),
    await digest(['a', 'xb'], ['', 'y']),
    await digest(['ab', 'x'], ['', 'y']),
    await digest(['a', 'x']),
    await digest(['a', 'x'], ['b', 'z']),
  ]
  assert.equal(new Set(told).size, told.length)
  assert.equal(await digest(['a', 'x'], ['b', 'y']), told[0])
})
