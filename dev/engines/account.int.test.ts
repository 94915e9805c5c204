import assert from 'node:assert/strict'
import { chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { explainBlocked, findBlockedPath, findUser } from './account.ts'
import { scratch } from './testing/scratch.ts'

test('root is told which folder stops the user who would run PostgreSQL', (t) => {
  const nobody = findUser('nobody')
  if (process.getuid?.() !== 0 || nobody === null) return t.skip('needs root and the user nobody')
  const { folder } = scratch(t)
  const closed = join(folder, 'closed')
  mkdirSync(join(closed, 'checkout'), { recursive: true })
  assert.equal(findBlockedPath([join(closed, 'checkout', 'file')], nobody), null)
  chmodSync(closed, 0o700)
  assert.equal(findBlockedPath([join(closed, 'checkout', 'file')], nobody), closed)
})

test('the explanation names the folder and what to do about it', () => {
  const blocked = explainBlocked('postgres', '/home/someone')
  assert.match(blocked, /user "postgres", who would run it, may not enter \/home\/someone/)
  assert.match(blocked, /chmod o\+x \/home\/someone/)
  assert.match(explainBlocked(null, null), /useradd --system postgres/)
})
