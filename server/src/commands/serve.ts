import { parseArgs } from 'node:util'
import { settingsFromEnvironment } from '#platform/config/environment.ts'
import { required } from '#platform/config/load.ts'
import { missingMigrations } from '#platform/db/migrate.ts'
import { createHealthServer } from '#platform/lifecycle/health.ts'
import { run } from '#platform/lifecycle/run.ts'
import { onStopSignal } from '#platform/lifecycle/signals.ts'
import { createLog, flushLog } from '#platform/telemetry/log.ts'
import { migrationsFolder } from '../migrations-folder.ts'
import { partsOf, readRoles } from '../roles/roles.ts'
import { wire, type Extras } from '../wiring.ts'
import { UsageError, type Command } from './command.ts'

const stopTimeoutMs = 10_000

/** Runs the roles that the settings name until the process is asked to stop. Returns the exit code. */
export async function serveUntilStopped(given: Record<string, string>, extras: Extras = {}): Promise<number> {
  const settings = settingsFromEnvironment(given)
  const roles = readRoles(settings.roles)
  const log = createLog({ level: settings.logLevel, pretty: settings.logPretty, name: roles.join('+') })
  const missing = await missingMigrations(required(settings, 'postgresUrl').postgresUrl, migrationsFolder)
  if (missing.length > 0) {
    throw new UsageError(
      `The database lacks ${missing.length} migrations (first: ${missing[0]}). Run: switchyard migrate`,
    )
  }
  const wired = await wire(settings, log, extras)
  const parts = partsOf(roles, wired)
  const health = createHealthServer({
    host: settings.internalHost,
    port: settings.internalPort,
    metrics: wired.metrics,
    log,
    readiness: () => running.readiness(),
  })
  const running = run([health, ...parts], { log, drainTimeoutMs: settings.drainTimeoutMs, stopTimeoutMs })
  const asked = new Promise<void>((resolve) => {
    onStopSignal((signal) => {
      log.info({ signal }, 'stopping')
      resolve()
    })
  })
  await running.started
  log.info({ roles }, 'ready')
  await asked
  const clean = await running.stop()
  await flushLog(log)
  return clean ? 0 : 1
}

export const serve: Command = {
  usage: 'serve [--roles=all|api,worker]',
  says: 'Run the server until SIGTERM.',
  async run(args) {
    const { values } = parseArgs({ args: [...args], options: { roles: { type: 'string' } } })
    return await serveUntilStopped(values.roles === undefined ? {} : { SWITCHYARD_ROLES: values.roles })
  },
}
