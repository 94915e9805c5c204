/** Attacks from inside a container, while a neighbour works: `node e2e/sandbox/isolation.ts --runtime runc|runsc|both`. */
import { parseArgs } from 'node:util'
import type { TestContext } from 'node:test'
import { startTestServices } from '../../dev/test-services.ts'
import { runtimes, sandboxApp, type Runtime } from '../../server/src/modules/containers/testing/sandbox-app.ts'
import { Checks } from '../load/checks.ts'
import { proveIsolation, type IsolationSizes } from './isolation/prove-isolation.ts'

const settings = {
  SWITCHYARD_SANDBOX_DISK_MB_MAX: '256',
  SWITCHYARD_SANDBOX_PROCESSES: '128',
  SWITCHYARD_SANDBOX_POOL: '1',
}

async function proveOn(runtime: Runtime, checks: Checks, sizes: IsolationSizes): Promise<void> {
  const endings: (() => unknown)[] = []
  const context = { after: (ending: () => unknown) => void endings.push(ending) } as unknown as TestContext
  try {
    const app = await sandboxApp(context, { runtime, settings })
    await proveIsolation(app, runtime, checks, sizes)
  } finally {
    for (const end of endings) await end()
  }
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      runtime: { type: 'string', default: 'both' },
      /** Parts of names, with commas between them. */
      only: { type: 'string', default: '' },
      'quiet-ms': { type: 'string', default: '2500' },
    },
  })
  const only = values.only.split(',').filter((part) => part !== '')
  const sizes = { only, quietMs: Number(values['quiet-ms']) }
  const checks = new Checks()
  const services = await startTestServices()
  Object.assign(process.env, services.env)
  try {
    for (const runtime of runtimes) {
      if (values.runtime === runtime || values.runtime === 'both') await proveOn(runtime, checks, sizes)
    }
  } finally {
    await services.stop()
  }
  return checks.finish()
}

if (import.meta.main) process.exitCode = await main()
