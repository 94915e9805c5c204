import { settingsFromEnvironment } from '#platform/config/environment.ts'
import { required } from '#platform/config/load.ts'
import { migrate } from '#platform/db/migrate.ts'
import { migrationsFolder } from '../migrations-folder.ts'
import type { Command } from './command.ts'

export const migrateCommand: Command = {
  usage: 'migrate',
  says: 'Bring the database schema up to date, then end.',
  async run() {
    const { postgresUrl } = required(settingsFromEnvironment(), 'postgresUrl')
    const applied = await migrate({
      url: postgresUrl,
      folder: migrationsFolder,
      onApplied: (name, ms) => process.stdout.write(`${name} (${Math.round(ms)} ms)\n`),
    })
    process.stdout.write(`${applied.length} applied, the schema is up to date\n`)
    return 0
  },
}
