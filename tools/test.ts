import { appendFileSync } from 'node:fs'
import { holdSharedDocker } from '../dev/engines/shared-docker.ts'
import { startTestServices } from '../dev/test-services.ts'
import { withCompileCache } from './testing/compile-cache.ts'
import { countingLine, countOutcomes, fileReport } from './testing/counts.ts'
import type { FileResult } from './testing/counts.ts'
import { isKind, KINDS, selectTests } from './testing/kinds.ts'
import type { Kind } from './testing/kinds.ts'
import { runFiles } from './testing/run-files.ts'
import { slowest } from './testing/slowest.ts'
import { listTree } from './tree.ts'

const ROOT = new URL('..', import.meta.url)
/** Those with the longest files first: one that begins last is waited for alone. */
const FOLDERS = ['dev', 'sandbox', 'packages', 'server', 'tools', 'e2e']
const FILE_LIMIT_MS = 10 * 60_000
/** They need no engine, or start a whole stack of their own. */
const WITHOUT_SERVICES: readonly Kind[] = ['unit', 'compat']

const EXIT_CODES = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const

async function main([word, ...filters]: string[]): Promise<number> {
  if (!isKind(word)) {
    console.error(`Usage: node tools/test.ts <${KINDS.join('|')}> [part of a path …]`)
    return 2
  }
  const files = selectTests(listTree(ROOT, FOLDERS, /\.test\.ts$/), word, filters)
  if (files.length === 0) {
    console.error(`No ${word} test file${filters.length > 0 ? ` matches ${filters.join(' or ')}` : ' was found'}.`)
    return 1
  }
  const stopping = new AbortController()
  let stoppedBy: keyof typeof EXIT_CODES | null = null
  for (const name of Object.keys(EXIT_CODES) as (keyof typeof EXIT_CODES)[]) {
    process.on(name, () => {
      stoppedBy ??= name
      stopping.abort()
    })
  }
  const results = await runWithServices(word, files, stopping.signal)
  return stoppedBy === null ? report(word, results) : EXIT_CODES[stoppedBy]
}

async function runWithServices(kind: Kind, files: string[], signal: AbortSignal): Promise<FileResult[]> {
  const services = WITHOUT_SERVICES.includes(kind) ? null : await startTestServices()
  // Files that run containers come one after another, and each would start and end the engine.
  const docker = kind === 'unit' ? null : await holdSharedDocker()
  try {
    return await runFiles(files, {
      root: ROOT,
      env: { ...withCompileCache(process.env), ...services?.env },
      fileLimitMs: FILE_LIMIT_MS,
      signal,
      onResult: (result) => console.log(fileReport(result)),
    })
  } finally {
    await docker?.stop()
    await services?.stop()
  }
}

function report(kind: Kind, results: FileResult[]): number {
  const counts = countOutcomes(results)
  const countsFile = process.env['SWITCHYARD_TEST_COUNTS'] ?? ''
  if (countsFile !== '') appendFileSync(countsFile, `${JSON.stringify({ kind, ...counts })}\n`)
  const slow = slowest(results)
  if (slow !== '') console.log(slow)
  console.log(countingLine(counts))
  return counts.failed === 0 && counts.passed > 0 ? 0 : 1
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2))
