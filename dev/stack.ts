import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { migrate } from '#platform/db/migrate.ts'
import { migrationsFolder } from '../server/src/migrations-folder.ts'
import { freePort, portIsFree } from './engines/free-port.ts'
import { startPostgres, type Postgres } from './engines/postgres.ts'
import { startRestate, type Restate } from './engines/restate.ts'
import { startValkey, type Valkey } from './engines/valkey.ts'
import { startRehearsal, type Rehearsal } from './rehearsal/rehearsal.ts'
import { startSandbox, withoutSandbox, type DevSandbox, type SandboxWish } from './sandbox/sandbox.ts'
import { keepDevSecrets } from './dev-secrets.ts'
import { readDevTier, seed, type Seeded } from './seed.ts'
import { startServerNode, type ServerNode } from './server-node.ts'
import { keepTls, type TlsFiles } from './tls.ts'

export interface StackOptions {
  readonly dataDir: string
  /** How many processes run which roles: `{ all: 1 }`, or `{ api: 2, worker: 2, sandbox: 2 }`. */
  readonly nodes: Readonly<Record<string, number>>
  /** Wished for; another port is taken when one is in use. */
  readonly ports?: { readonly http?: number; readonly tls?: number; readonly internal?: number }
  /** Engines that run elsewhere; the others are started. */
  readonly given?: { readonly postgresUrl?: string; readonly valkeyUrl?: string }
  /** The only hosts that webhooks may reach, empty for every one. Unless told otherwise a stack stays on this machine. */
  readonly outboundHosts?: readonly string[]
  /** Whether the model `rehearsal` is there, beside those of `SWITCHYARD_MODELS`. */
  readonly rehearsal?: boolean
  /** The image of hosted containers. Without it the stack looks for no Docker, and a hosted shell has no host. */
  readonly sandbox?: SandboxWish
  /** Settings of the server beyond those of dev. */
  readonly settings?: Readonly<Record<string, string>>
  readonly onProgress?: (line: string) => void
  readonly onUnexpectedExit?: (name: string, reason: string) => void
}

export interface Stack {
  readonly postgres: Postgres | null
  readonly valkey: Valkey | null
  readonly restate: Restate
  readonly rehearsal: Rehearsal | null
  readonly sandbox: DevSandbox | null
  readonly nodes: readonly ServerNode[]
  readonly seeded: Seeded
  readonly tls: TlsFiles
  readonly httpPort: number
  readonly tlsPort: number
  /** The environment its server processes run in. */
  readonly env: NodeJS.ProcessEnv
  stop(): Promise<void>
}

const thisMachine = ['127.0.0.1', 'localhost']
/** Long enough for what a laptop has in hand, short enough not to wonder. */
const drainTimeoutMs = 30_000

/** The whole platform as processes of this machine: engines, migrated schema, a first organisation, server nodes. */
export async function startStack(options: StackOptions): Promise<Stack> {
  mkdirSync(options.dataDir, { recursive: true })
  const started: { stop(): Promise<void> }[] = []
  const stop = async () => {
    // Newest first: nodes before the engines they stand on.
    for (const thing of started.toReversed()) await thing.stop()
  }
  const keep = <Thing extends { stop(): Promise<void> }>(thing: Thing): Thing => {
    started.push(thing)
    return thing
  }
  try {
    return { ...(await build(options, keep)), stop }
  } catch (error) {
    await stop()
    throw error
  }
}

type Keep = <Thing extends { stop(): Promise<void> }>(thing: Thing) => Thing

async function build(options: StackOptions, keep: Keep): Promise<Omit<Stack, 'stop'>> {
  const { dataDir, given = {}, onProgress } = options
  const secrets = await keepDevSecrets(dataDir)
  const at = (name: string) => ({
    dataDir: join(dataDir, name),
    ...(onProgress && { onProgress }),
    ...(options.onUnexpectedExit && { onUnexpectedExit: (reason: string) => options.onUnexpectedExit?.(name, reason) }),
  })
  const [postgres, valkey, restate, sandbox] = await allOrNone([
    given.postgresUrl === undefined ? startPostgres(at('postgres')).then(keep) : null,
    given.valkeyUrl === undefined ? startValkey(at('valkey')).then(keep) : null,
    startRestate({ ...at('restate'), ports: secrets.restatePorts }).then(keep),
    options.sandbox === undefined ? null : hostContainers(options, options.sandbox).then(keep),
  ])
  const postgresUrl = given.postgresUrl ?? postgres?.url ?? ''
  await migrate({ url: postgresUrl, folder: migrationsFolder, onApplied: (name) => onProgress?.(`migrated ${name}`) })
  const rehearsal = options.rehearsal === true ? keep(await rehearse(dataDir)) : null
  const tls = await keepTls(dataDir)
  const seeded = await seed({ postgresUrl, dataDir, tier: readDevTier(process.env['SWITCHYARD_DEV_TIER']) })
  const httpPort = await choosePort(options.ports?.http)
  const tlsPort = await choosePort(options.ports?.tls)
  const env: NodeJS.ProcessEnv = {
    ...process.env,
    SWITCHYARD_POSTGRES_URL: postgresUrl,
    SWITCHYARD_VALKEY_URL: given.valkeyUrl ?? valkey?.url ?? '',
    SWITCHYARD_RESTATE_INGRESS_URL: restate.ingressUrl,
    SWITCHYARD_RESTATE_ADMIN_URL: restate.adminUrl,
    SWITCHYARD_RESTATE_IDENTITY_KEY: restate.identityKey,
    SWITCHYARD_SEAL_KEYS: secrets.sealKeys,
    SWITCHYARD_WORKER_PORT: String(secrets.workerPort),
    SWITCHYARD_BLOBS_DIR: join(dataDir, 'blobs'),
    SWITCHYARD_HTTP_PORT: String(httpPort),
    SWITCHYARD_HTTP_REUSE_PORT: String((options.nodes['api'] ?? 0) > 1),
    SWITCHYARD_HTTP_CHECK_REPLIES: 'true',
    SWITCHYARD_OUTBOUND_LOOPBACK_ALLOWED: 'true',
    SWITCHYARD_OUTBOUND_HOSTS: (options.outboundHosts ?? thisMachine).join(','),
    SWITCHYARD_TLS_PORT: String(tlsPort),
    SWITCHYARD_TLS_CERT_FILE: tls.cert,
    SWITCHYARD_TLS_KEY_FILE: tls.key,
    SWITCHYARD_DRAIN_TIMEOUT_MS: String(drainTimeoutMs),
    ...(rehearsal && { SWITCHYARD_MODELS: rehearsal.modelsFile }),
    ...(sandbox?.settings ?? withoutSandbox(dataDir)),
    ...options.settings,
  }
  const nodes = await startNodes(options, env, keep)
  return { postgres, valkey, restate, rehearsal, sandbox, nodes, seeded, tls, httpPort, tlsPort, env }
}

/** When one fails, waits for the others: what is still starting could not be stopped. */
async function allOrNone<Things extends readonly unknown[]>(starting: {
  [K in keyof Things]: Promise<Things[K]> | Things[K]
}) {
  try {
    return await Promise.all(starting)
  } catch (error) {
    await Promise.allSettled(starting)
    throw error
  }
}

async function rehearse(dataDir: string): Promise<Rehearsal> {
  const modelsFile = process.env['SWITCHYARD_MODELS']
  return await startRehearsal({ dataDir, ...(modelsFile !== undefined && modelsFile !== '' && { modelsFile }) })
}

async function hostContainers({ dataDir, onProgress }: StackOptions, image: SandboxWish): Promise<DevSandbox> {
  const given = {
    socket: process.env['SWITCHYARD_SANDBOX_DOCKER_SOCKET'],
    image: process.env['SWITCHYARD_SANDBOX_IMAGE'],
  }
  return await startSandbox({ dataDir, image, given, ...(onProgress && { onProgress }) })
}

async function startNodes(options: StackOptions, env: NodeJS.ProcessEnv, keep: Keep): Promise<ServerNode[]> {
  const wanted = Object.entries(options.nodes).flatMap(([roles, count]) =>
    Array.from({ length: count }, (_none, index) => ({
      roles,
      name: roles === 'all' ? 'server' : `${roles} ${index + 1}`,
      // Its folder is a host's identity: two hosts never share one.
      env: index === 0 ? env : { ...env, SWITCHYARD_SANDBOX_DIR: `${env['SWITCHYARD_SANDBOX_DIR']}-${index + 1}` },
    })),
  )
  const nodes: ServerNode[] = []
  for (const [index, { roles, name, env: own }] of wanted.entries()) {
    const internalPort = await choosePort(index === 0 ? options.ports?.internal : undefined)
    const node = await startServerNode({
      name,
      roles,
      dataDir: options.dataDir,
      internalPort,
      env: own,
      ...(options.onProgress && { onProgress: options.onProgress }),
      ...(options.onUnexpectedExit && {
        onUnexpectedExit: (reason: string) => options.onUnexpectedExit?.(name, reason),
      }),
    })
    keep(node.process)
    nodes.push(node)
  }
  await Promise.all(nodes.map((node) => node.waitReady()))
  return nodes
}

async function choosePort(wished: number | undefined): Promise<number> {
  return wished !== undefined && (await portIsFree(wished)) ? wished : await freePort()
}
