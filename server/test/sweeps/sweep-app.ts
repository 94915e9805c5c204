import type { TestContext } from 'node:test'
import { sandboxApp } from '#modules/containers/testing/sandbox-app.ts'
import type { TestApp } from '../test-app.ts'

/** The app that operations are swept on: with a host for containers, and nothing that changes the store by itself. */
export function sweepApp(t: TestContext, more: Readonly<Record<string, string>> = {}): Promise<TestApp> {
  const settings = { SWITCHYARD_SANDBOX_POOL: '0', SWITCHYARD_SANDBOX_MEMORY_MB: '1000000', ...more }
  return sandboxApp(t, { runtime: 'runc', settings, roles: ['api', 'sandbox'] })
}
