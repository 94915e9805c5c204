import { resealSecrets } from '#modules/webhooks/index.ts'
import { settingsFromEnvironment } from '#platform/config/environment.ts'
import { required } from '#platform/config/load.ts'
import { openDatabase } from '#platform/db/db.ts'
import { parseSealKeys } from '#platform/secrets/keys.ts'
import { createSealer } from '#platform/secrets/seal.ts'
import type { Command } from './command.ts'

export const secretsReseal: Command = {
  usage: 'secrets reseal',
  says: 'Seal stored secrets with the first of SWITCHYARD_SEAL_KEYS, so that old keys can be taken away.',
  async run() {
    const settings = settingsFromEnvironment()
    const given = required(settings, 'postgresUrl', 'sealKeys')
    const db = openDatabase({
      url: given.postgresUrl,
      connectionsMax: 1,
      statementTimeoutMs: settings.postgresStatementTimeoutMs,
      applicationName: 'switchyard secrets reseal',
      onIdleError: () => undefined,
    })
    try {
      const moved = await resealSecrets(db.as(), createSealer({ keys: parseSealKeys(given.sealKeys) }))
      process.stdout.write(`${moved} webhook signing secrets sealed anew\n`)
      return 0
    } finally {
      await db.close()
    }
  },
}
