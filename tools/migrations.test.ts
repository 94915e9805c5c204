import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hashMigrations, lockedWith, migrationFaults } from './migrations.ts'

const files = new Map([
  ['server/migrations/0001-platform-init.sql', 'create schema platform;\n'],
  ['server/migrations/0002-files-init.sql', 'create schema files;\n'],
])
const locked = hashMigrations(files)

test('migrations that stay as they were locked pass', () => {
  assert.deepEqual(migrationFaults(hashMigrations(files), locked), [])
})

test('an edited, a removed and a new migration are each told apart', () => {
  const now = hashMigrations(
    new Map([
      ['server/migrations/0001-platform-init.sql', 'create schema platform; -- now\n'],
      ['server/migrations/0003-files-more.sql', 'select 1;\n'],
    ]),
  )
  const faults = migrationFaults(now, locked)
  assert.deepEqual(
    faults.map((fault) => fault.split(' ').slice(0, 3).join(' ')),
    ['0001-platform-init.sql was edited', '0002-files-init.sql is gone.', '0003-files-more.sql is new.'],
  )
})

test('locking adds what is new and never forgives an edit', () => {
  const now = { '0001-platform-init.sql': 'edited', '0003-files-more.sql': 'new' }
  assert.deepEqual(lockedWith(now, locked), { ...locked, '0003-files-more.sql': 'new' })
})
