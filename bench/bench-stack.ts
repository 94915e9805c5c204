import { dirname, resolve } from 'node:path'
import { startTemporaryStack } from '../e2e/temporary-stack.ts'
import type { SupervisedProcess } from '../dev/engines/process.ts'
import type { Stack } from '../dev/stack.ts'
import { LoadGenerator } from './load/load.ts'

export interface Bench {
  readonly stack: Stack
  readonly generator: LoadGenerator
  readonly postgresUrl: string
  /** Where the stack keeps its server processes: what is recorded here and outlives a killed run, the next run ends. */
  readonly nodesFolder: string
  /** Further servers, added as they are started and ended with the bench. */
  readonly twins: SupervisedProcess[]
}

/** As production runs: replies are not checked, and one JSON line a request goes to a file. */
const asInProduction = {
  SWITCHYARD_HTTP_CHECK_REPLIES: 'false',
  SWITCHYARD_LOG_LEVEL: 'info',
  SWITCHYARD_LOG_PRETTY: 'false',
  SWITCHYARD_OTLP_URL: '',
}

export interface BenchOptions {
  /** Where the api process leaves a CPU profile when it ends; for finding out, not for figures. */
  readonly profileDir?: string | undefined
  /** Of the server, beyond those of every bench. */
  readonly settings?: Readonly<Record<string, string>>
  /** One process with which roles, the api being one of them. */
  readonly roles?: string
}

/** Engines, one api process and a load generator, which all go afterwards. */
export async function withBench<Result>(
  { profileDir, settings, roles = 'api' }: BenchOptions,
  work: (bench: Bench) => Promise<Result>,
): Promise<Result> {
  const twins: SupervisedProcess[] = []
  // Interrupted, the stack ends itself and then this process; whatever else was started must be told before that.
  const tellTwins = () => twins.forEach((twin) => void twin.stop())
  process.once('SIGTERM', tellTwins).once('SIGINT', tellTwins)
  const profile = profileDir !== undefined && { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${resolve(profileDir)}` }
  const stack = await startTemporaryStack({
    nodes: { [roles]: 1 },
    settings: { ...asInProduction, ...profile, ...settings },
  })
  const generator = new LoadGenerator()
  try {
    const postgresUrl = stack.env['SWITCHYARD_POSTGRES_URL'] ?? ''
    const nodesFolder = dirname(stack.nodes[0]?.logFile ?? '')
    return await work({ stack, generator, postgresUrl, nodesFolder, twins })
  } finally {
    await generator.stop()
    await Promise.all(twins.map((twin) => twin.stop()))
    await stack.stop()
    process.off('SIGTERM', tellTwins).off('SIGINT', tellTwins)
  }
}
