import { SettingsRefused } from '#platform/config/load.ts'
import { UsageError, type Command } from './command.ts'
import { doctor } from './doctor.ts'
import { egress } from './egress.ts'
import { evalsRun } from './evals-run.ts'
import { migrateCommand } from './migrate.ts'
import { orgsCreate } from './orgs-create.ts'
import { orgsTier } from './orgs-tier.ts'
import { secretsReseal } from './secrets-reseal.ts'
import { serve } from './serve.ts'
import { settingsCommand } from './settings.ts'

const commands: Readonly<Record<string, Command>> = {
  serve,
  migrate: migrateCommand,
  doctor,
  settings: settingsCommand,
  egress,
  'evals run': evalsRun,
  'orgs create': orgsCreate,
  'orgs tier': orgsTier,
  'secrets reseal': secretsReseal,
}

function help(): string {
  const width = Math.max(...Object.values(commands).map(({ usage }) => usage.length))
  const lines = Object.values(commands).map(({ usage, says }) => `  switchyard ${usage.padEnd(width)}  ${says}`)
  return [
    'Switchyard: the agent-platform API on your own machines.',
    '',
    ...lines,
    '',
    'For development: npm run dev',
    '',
  ].join('\n')
}

export async function runCommand(args: readonly string[]): Promise<number> {
  const [first = 'help', second = ''] = args
  const name = `${first} ${second}` in commands ? `${first} ${second}` : first
  const command = commands[name]
  if (command === undefined) {
    process.stdout.write(help())
    return first === 'help' || first === '--help' ? 0 : 2
  }
  try {
    return await command.run(args.slice(name.split(' ').length))
  } catch (error) {
    if (!(error instanceof SettingsRefused) && !(error instanceof UsageError)) throw error
    process.stderr.write(`${error.message}\n`)
    return 2
  }
}
