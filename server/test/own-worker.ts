import { randomBytes } from 'node:crypto'

/** Settings of an app that runs the role worker: names and a port that no other app on the same engine has. */
export async function ownWorker(): Promise<Record<string, string>> {
  const { freePort } = await import('../../dev/engines/free-port.ts')
  return {
    SWITCHYARD_WORKER_PORT: String(await freePort()),
    SWITCHYARD_DURABLE_PREFIX: `test-${randomBytes(4).toString('hex')}`,
    SWITCHYARD_DURABLE_SWEEP_MS: '500',
  }
}
