import { createHash } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { readTree } from './tree.ts'

const ROOT = new URL('..', import.meta.url)
const LOCK = new URL('tools/migrations.lock.json', ROOT)

/** File name to the SHA-256 of its text. */
export type MigrationHashes = Record<string, string>

export function hashMigrations(files: ReadonlyMap<string, string>): MigrationHashes {
  return Object.fromEntries(
    [...files].map(([path, text]) => [path.replace(/^.*\//, ''), createHash('sha256').update(text).digest('hex')]),
  )
}

/** What is wrong with the migrations, given the hashes that were locked when each was merged. */
export function migrationFaults(now: MigrationHashes, locked: MigrationHashes): string[] {
  const changed = Object.entries(locked).flatMap(([name, hash]) => {
    if (now[name] === undefined) return [`${name} is gone. Databases that ran it exist: put it back.`]
    if (now[name] === hash) return []
    return [`${name} was edited after it was locked. Put it back and write a new migration instead.`]
  })
  const unlocked = Object.keys(now)
    .filter((name) => locked[name] === undefined)
    .map((name) => `${name} is new. When it is final, run: node tools/check.ts --lock-migrations`)
  return [...changed, ...unlocked]
}

/** Adds the new ones; what was locked before stays as it was. */
export function lockedWith(now: MigrationHashes, locked: MigrationHashes): MigrationHashes {
  const all = { ...now, ...locked }
  return Object.fromEntries(Object.entries(all).sort(([a], [b]) => (a < b ? -1 : 1)))
}

function readMigrations(): { now: MigrationHashes; locked: MigrationHashes } {
  const now = hashMigrations(readTree(ROOT, ['server/migrations'], /\.sql$/))
  return { now, locked: JSON.parse(readFileSync(LOCK, 'utf8')) as MigrationHashes }
}

export function checkMigrations(): string[] {
  const { now, locked } = readMigrations()
  return migrationFaults(now, locked)
}

export function lockMigrations(): void {
  const { now, locked } = readMigrations()
  writeFileSync(LOCK, `${JSON.stringify(lockedWith(now, locked), null, 2)}\n`)
}
