/**
 * Secrets are nowhere: a value of its own is planted as a domain secret in every response, made in every way that a
 * response can be made, ended in every way that one can end. Commands use it, and try to get at it. The host that it is
 * for receives it on every allowed call; then every store, log, reply, file and process is searched for it, in every
 * usual encoding, and beside it for texts that are known to be there, so that an empty dump would not pass.
 *
 * Statements: S1-2.2-c to S1-2.2-h, S1-5.3-a to S1-5.3-e.
 *
 *   node e2e/sandbox/secrets.ts --responses 100
 */
import { parseArgs } from 'node:util'
import { Checks } from '../load/checks.ts'
import { SandboxFleet } from './sandbox-fleet.ts'
import { openOutside } from './secrets/outside.ts'
import { Run } from './secrets/run.ts'

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: { responses: { type: 'string', default: '100' } },
  })
  const checks = new Checks()
  const outside = await openOutside()
  try {
    // On runc, whose processes the machine can look into. Debug: whatever a log could ever say, it says.
    const settings = { ...outside.settings, SWITCHYARD_LOG_LEVEL: 'debug' }
    const fleet = await SandboxFleet.start({ runtime: 'runc', hosts: 1, settings })
    try {
      await new Run({ fleet, outside, checks }).prove(Number(values.responses))
    } finally {
      await fleet.stop()
    }
  } finally {
    await outside.close()
  }
  return checks.finish()
}

if (import.meta.main) process.exitCode = await main()
