import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { countingLine, countOutcomes, fileReport } from '../tools/testing/counts.ts'
import type { Counts } from '../tools/testing/counts.ts'
import { selectTests } from '../tools/testing/kinds.ts'
import { runFiles } from '../tools/testing/run-files.ts'
import { listTree } from '../tools/tree.ts'
import { startS3Server } from './engines/s3-server.ts'

const ROOT = new URL('..', import.meta.url)
const FOLDERS = ['server', 'dev']
const FILE_LIMIT_MS = 10 * 60_000

type S3Env = { env: Record<string, string>; stop: () => Promise<void> }

/** Runs the tests that need a real S3 server: one named in the environment, else one of our own that ends with them. */
async function main(): Promise<number> {
  const stopping = new AbortController()
  for (const name of ['SIGHUP', 'SIGINT', 'SIGTERM'] as const) process.on(name, () => stopping.abort())
  const server = await findS3()
  let counts: Counts
  try {
    counts = await runTests(server.env, stopping.signal)
  } finally {
    await server.stop()
  }
  console.log(countingLine(counts))
  return counts.failed === 0 && counts.passed > 0 && !stopping.signal.aborted ? 0 : 1
}

async function runTests(env: Record<string, string>, signal: AbortSignal): Promise<Counts> {
  const files = selectTests(listTree(ROOT, FOLDERS, /\.test\.ts$/), 's3', [])
  const results = await runFiles(files, {
    root: ROOT,
    env: { ...process.env, ...env },
    fileLimitMs: FILE_LIMIT_MS,
    signal,
    onResult: (result) => console.log(fileReport(result)),
  })
  return countOutcomes(results)
}

async function findS3(): Promise<S3Env> {
  if ((process.env['SWITCHYARD_TEST_S3_URL'] ?? '') !== '') return { env: {}, stop: () => Promise.resolve() }
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-s3-'))
  const removeFolder = () => rmSync(folder, { recursive: true, force: true })
  try {
    const server = await startS3Server({ dataDir: folder, onProgress: console.log })
    const env = {
      SWITCHYARD_TEST_S3_URL: server.endpoint,
      SWITCHYARD_TEST_S3_REGION: server.region,
      SWITCHYARD_TEST_S3_ACCESS_KEY_ID: server.accessKeyId,
      SWITCHYARD_TEST_S3_SECRET_ACCESS_KEY: server.secretAccessKey,
    }
    return { env, stop: async () => await server.stop().finally(removeFolder) }
  } catch (error) {
    removeFolder()
    throw error
  }
}

if (import.meta.main) process.exitCode = await main()
