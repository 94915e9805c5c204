/** The server's own program with a hosted shell wired in: `node e2e/responses/node.ts serve --roles=api`. */
import { parseArgs } from 'node:util'
import { serveUntilStopped } from '../../server/src/commands/serve.ts'
import { openLedgerShell } from './ledger-shell.ts'

const { values } = parseArgs({ allowPositionals: true, options: { roles: { type: 'string', default: 'all' } } })
const shell = openLedgerShell({
  folder: process.env['SHELL_LEDGER_DIR'] ?? '',
  lastsMs: Number(process.env['SHELL_LASTS_MS'] ?? '100'),
})

process.exitCode = await serveUntilStopped({ SWITCHYARD_ROLES: values.roles }, { shell })
