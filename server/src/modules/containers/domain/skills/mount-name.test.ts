import fc from 'fast-check'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mountName } from './mount-name.ts'

test('a skill is mounted under its name, as far as that is a plain one', () => {
  assert.equal(mountName('csv-workbench'), 'csv-workbench')
  assert.equal(mountName('My Skill (v2)'), 'My-Skill-v2-')
  assert.equal(mountName('../../etc'), 'etc')
  assert.equal(mountName('.hidden'), 'hidden')
  assert.equal(mountName('日本'), 'skill')
  assert.equal(mountName('..'), 'skill')
})

test('whatever a skill is called, its folder is one plain name', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 300 }), (name) => {
      assert.match(mountName(name), /^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$/)
    }),
  )
})
