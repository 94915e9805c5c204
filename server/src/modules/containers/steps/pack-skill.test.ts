import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Fault } from '#platform/errors/fault.ts'
import { skillText, zipOf } from '../testing/skill-forms.ts'
import { createPacking } from './pack-skill.ts'

test('whoever waits for a turn gets one, also after others failed', async () => {
  const packing = createPacking()
  const good = await zipOf({ 'SKILL.md': skillText() })
  const all = await Promise.allSettled(
    Array.from({ length: 40 }, (_, at) => packing.archive(at % 2 === 0 ? good : Buffer.from('no zip'), 'data')),
  )
  assert.deepEqual(
    all.map(({ status }) => status),
    Array.from({ length: 40 }, (_, at) => (at % 2 === 0 ? 'fulfilled' : 'rejected')),
  )
})

test('with too many waiting, the rest are asked to come back', async () => {
  const packing = createPacking()
  const zip = await zipOf({ 'SKILL.md': skillText() })
  const all = await Promise.allSettled(Array.from({ length: 70 }, () => packing.archive(zip, 'data')))
  const refused = all.flatMap((one) => (one.status === 'rejected' ? [one.reason as unknown] : []))
  assert.equal(refused.length, 70 - 2 - 64)
  for (const error of refused) assert.ok(error instanceof Fault && error.code === 'server_overloaded')
  await packing.archive(zip, 'data')
})

test('a folder and a zip of it are packed into the same bytes', async () => {
  const packing = createPacking()
  const script = '#!/bin/sh\n'
  const folder = [
    { path: 'x/run.sh', bytes: Buffer.from(script) },
    { path: 'x/SKILL.md', bytes: Buffer.from(skillText()) },
  ]
  const zip = await zipOf({ 'SKILL.md': skillText(), 'run.sh': script })
  const [one, other] = [
    await packing.upload(folder, 'files'),
    await packing.upload([{ path: 'any.zip', bytes: zip }], 'files'),
  ]
  assert.deepEqual(one, other)
  assert.deepEqual(
    [one.name, one.files, one.unpackedBytes],
    ['csv-workbench', 2, Buffer.byteLength(skillText() + script)],
  )
})
