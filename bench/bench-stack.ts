import { dirname, resolve } from 'node:path'
import { startTemporaryStack } from '../e2e/temporary-stack.ts'
import type { Stack } from '../dev/stack.ts'
import { LoadGenerator } from './load/load.ts'

export interface Bench {
  readonly stack: Stack
  readonly generator: LoadGenerator
  readonly postgresUrl: string
  /** Where the stack keeps its server processes: further ones recorded here end with it, whatever happens. */
  readonly nodesFolder: string
}

/** As production runs: replies are not checked, and one JSON line a request goes to a file. */
const settings = {
  SWITCHYARD_HTTP_CHECK_REPLIES: 'false',
  SWITCHYARD_LOG_LEVEL: 'info',
  SWITCHYARD_LOG_PRETTY: 'false',
  SWITCHYARD_OTLP_URL: '',
}

export interface BenchOptions {
  /** Where the api process leaves a CPU profile when it ends; for finding out, not for figures. */
  readonly profileDir?: string | undefined
}

/** Engines, one api process and a load generator, which all go afterwards, also when the bench is ended half-way. */
export async function withBench<Result>(
  { profileDir }: BenchOptions,
  work: (bench: Bench) => Promise<Result>,
): Promise<Result> {
  const asked = untilSignal()
  const profile = profileDir !== undefined && { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${resolve(profileDir)}` }
  const stack = await startTemporaryStack({ nodes: { api: 1 }, settings: { ...settings, ...profile } })
  const generator = new LoadGenerator()
  try {
    const postgresUrl = stack.env['SWITCHYARD_POSTGRES_URL'] ?? ''
    const nodesFolder = dirname(stack.nodes[0]?.logFile ?? '')
    return await Promise.race([work({ stack, generator, postgresUrl, nodesFolder }), asked.signal])
  } finally {
    asked.stop()
    await generator.stop()
    await stack.stop()
  }
}

function untilSignal(): { signal: Promise<never>; stop: () => void } {
  const { promise, reject } = Promise.withResolvers<never>()
  const end = (signal: NodeJS.Signals) => reject(new Error(`ended by ${signal}`))
  promise.catch(() => {})
  process.once('SIGTERM', end).once('SIGINT', end)
  return { signal: promise, stop: () => void process.off('SIGTERM', end).off('SIGINT', end) }
}
