import { parseArgs } from 'node:util'
import { createOrgs } from '#modules/orgs/index.ts'
import { settingsFromEnvironment } from '#platform/config/environment.ts'
import { required } from '#platform/config/load.ts'
import { openDatabase } from '#platform/db/db.ts'
import { createLog } from '#platform/telemetry/log.ts'
import { UsageError, type Command } from './command.ts'

/** The first admin key of an organisation cannot come from the API, which asks for one. */
export const orgsCreate: Command = {
  usage: 'orgs create --name=NAME',
  says: 'Make an organisation and print its first admin key, once.',
  async run(args) {
    const { values } = parseArgs({ args: [...args], options: { name: { type: 'string' } } })
    if (values.name === undefined)
      throw new UsageError('Give the organisation a name: switchyard orgs create --name=NAME')
    const settings = settingsFromEnvironment()
    const db = openDatabase({
      url: required(settings, 'postgresUrl').postgresUrl,
      connectionsMax: 1,
      statementTimeoutMs: settings.postgresStatementTimeoutMs,
      applicationName: 'switchyard orgs create',
      onIdleError: () => undefined,
    })
    try {
      const log = createLog({ level: 'warn', pretty: true, name: 'orgs' })
      const made = await createOrgs({ db, log, cellTag: settings.cellTag }).createOrganization({ name: values.name })
      process.stdout.write(
        `organisation  ${made.orgId}\nadmin key     ${made.adminKey}\nThe key is shown this once; keep it safe.\n`,
      )
      return 0
    } finally {
      await db.close()
    }
  },
}
