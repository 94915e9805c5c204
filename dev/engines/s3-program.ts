import { execFile } from 'node:child_process'
import { mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { enginesFolder } from './engines-folder.ts'
import { findProgram, isProgram } from './find-program.ts'

const NAME = 'versitygw'
const VERSION = 'v1.8.0'
const MODULE = 'github.com/versity/versitygw/cmd/versitygw'
const BUILD_BOUND_MS = 20 * 60_000

/** An S3 server (Versity S3 Gateway, Apache-2.0) that was built earlier or is on PATH; null when there is none. */
export function findS3Program(folder: string = enginesFolder()): string | null {
  const built = join(builtFolder(folder), NAME)
  return isProgram(built) ? built : findProgram(NAME)
}

/** Builds the server with Go into the engines' folder; some minutes and a gigabyte of Go's own caches the first time. */
export async function buildS3Program(folder: string, onProgress?: (line: string) => void): Promise<string> {
  const go = findProgram('go')
  if (go === null) throw new Error(explainMissingS3Program())
  const final = builtFolder(folder)
  mkdirSync(folder, { recursive: true })
  const draft = mkdtempSync(`${final}-draft-`)
  try {
    onProgress?.(`s3: building ${NAME} ${VERSION} with ${go}; this takes some minutes, once`)
    const env = { ...process.env, GOBIN: draft, CGO_ENABLED: '0' }
    await promisify(execFile)(go, ['install', `${MODULE}@${VERSION}`], { env, cwd: draft, timeout: BUILD_BOUND_MS })
    rmSync(final, { recursive: true, force: true })
    renameSync(draft, final)
  } catch (error) {
    throw new Error(explainMissingS3Program(), { cause: error })
  } finally {
    rmSync(draft, { recursive: true, force: true })
  }
  return join(final, NAME)
}

export function explainMissingS3Program(): string {
  return [
    `No ${NAME} was found, and none could be built with Go. Do one of these:`,
    '  - install Go 1.25 or later, and let it reach its module registry;',
    `  - put a ${NAME} on PATH;`,
    '  - name a server of your own: SWITCHYARD_TEST_S3_URL, SWITCHYARD_TEST_S3_REGION,',
    '    SWITCHYARD_TEST_S3_ACCESS_KEY_ID and SWITCHYARD_TEST_S3_SECRET_ACCESS_KEY.',
  ].join('\n')
}

function builtFolder(folder: string): string {
  return join(folder, `${NAME}-${VERSION}-${process.arch}`)
}
