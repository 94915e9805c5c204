import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { enginesFolder } from './engines-folder.ts'
import { freePort } from './free-port.ts'
import type { EngineHandle } from './handle.ts'
import { SupervisedProcess } from './process.ts'
import type { ProcessOptions } from './process.ts'
import { buildS3Program, findS3Program } from './s3-program.ts'
import { keepSecret } from './secret-file.ts'

const READY_BOUND_MS = 20_000
const PROBE_BOUND_MS = 1_000
const REGION = 'us-east-1'
const BUCKET = 'switchyard'
const ACCESS_KEY_ID = 'switchyard'
const HEALTH_PATH = '/healthz'

export interface S3ServerOptions {
  /** Holds the objects, the secret and the log; on a file system with extended attributes. */
  dataDir: string
  port?: number
  logFile?: string
  /** Where a built engine is looked for and put. */
  enginesDir?: string
  onProgress?: ProcessOptions['onProgress']
  onUnexpectedExit?: ProcessOptions['onUnexpectedExit']
}

export interface S3Server extends EngineHandle {
  readonly endpoint: string
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** Made at the start, empty. */
  readonly bucket: string
  readonly region: string
}

/** Starts an S3-compatible server of our own on 127.0.0.1, building it first where the machine has none. */
export async function startS3Server(options: S3ServerOptions): Promise<S3Server> {
  const dataDir = resolve(options.dataDir)
  const enginesDir = options.enginesDir ?? enginesFolder()
  const program = findS3Program(enginesDir) ?? (await buildS3Program(enginesDir, options.onProgress))
  const objects = join(dataDir, 'objects')
  // A folder at the top is a bucket.
  mkdirSync(join(objects, BUCKET), { recursive: true })
  const secretAccessKey = keepSecret(join(dataDir, 'secret'))
  const port = options.port ?? (await freePort())
  const endpoint = `http://127.0.0.1:${port}`
  const args = ['--port', `127.0.0.1:${port}`, '--region', REGION, '--health', HEALTH_PATH, '--keep-alive', '--quiet']
  const server = new SupervisedProcess(program, [...args, 'posix', objects], {
    name: 's3',
    logFile: options.logFile ?? join(dataDir, 's3.log'),
    pidFile: join(dataDir, 's3.pid'),
    cwd: dataDir,
    // In the environment, not on the command line, where every user of the machine could read the secret.
    env: { ...process.env, ROOT_ACCESS_KEY_ID: ACCESS_KEY_ID, ROOT_SECRET_ACCESS_KEY: secretAccessKey },
    ...(options.onProgress && { onProgress: options.onProgress }),
    ...(options.onUnexpectedExit && { onUnexpectedExit: options.onUnexpectedExit }),
  })
  const start = async () => {
    await server.start()
    await server.waitReady(async () => await answers(`${endpoint}${HEALTH_PATH}`), READY_BOUND_MS)
  }
  await start()
  return {
    endpoint,
    accessKeyId: ACCESS_KEY_ID,
    secretAccessKey,
    bucket: BUCKET,
    region: REGION,
    get pid() {
      return server.pid
    },
    stop: async () => await server.stop(),
    kill9: async () => await server.kill9(),
    restart: async () => {
      await server.stop()
      await start()
    },
  }
}

async function answers(url: string): Promise<boolean> {
  return (await fetch(url, { signal: AbortSignal.timeout(PROBE_BOUND_MS) })).ok
}
