import { createBatches, type Batches } from '#modules/batches/index.ts'
import { createContainers, type Containers, type ContainerShell } from '#modules/containers/index.ts'
import { resolve } from 'node:path'
import { createEvals, type Evals } from '#modules/evals/index.ts'
import { createFiles, type Files } from '#modules/files/index.ts'
import { createInference, loadCatalogue, type Inference } from '#modules/inference/index.ts'
import { createLimits, loadBook, type Limits } from '#modules/limits/index.ts'
import { createOrgs, type Orgs } from '#modules/orgs/index.ts'
import { createResponses, type Responses } from '#modules/responses/index.ts'
import { createWebhooks, type Webhooks } from '#modules/webhooks/index.ts'
import { createBlobs } from '#platform/blobs/create-blobs.ts'
import type { Blobs } from '#platform/blobs/blobs.ts'
import { createValkey, type Valkey } from '#platform/cache/valkey.ts'
import { environmentVariable } from '#platform/config/environment.ts'
import { required } from '#platform/config/load.ts'
import type { Settings } from '#platform/config/settings.ts'
import { openDatabase, type Database } from '#platform/db/db.ts'
import type { PlatformTables } from '#platform/db/tables.ts'
import { createDurable, type Durable } from '#platform/durable/durable.ts'
import { createMesh, type Mesh } from '#platform/mesh/mesh.ts'
import { meshKey } from '#platform/mesh/signature.ts'
import { createOutbound, type Outbound } from '#platform/outbound/client.ts'
import type { TargetRules } from '#platform/outbound/target.ts'
import { parseSealKeys } from '#platform/secrets/keys.ts'
import { createSealer, type Sealer } from '#platform/secrets/seal.ts'
import type { Log } from '#platform/telemetry/log.ts'
import { createMetrics, type Metrics } from '#platform/telemetry/metrics.ts'
import { createTracing, type Tracing } from '#platform/telemetry/trace.ts'

/** Everything that exists once a process, in dependency order. Nothing here has started yet. */
export interface Wired {
  readonly settings: Settings
  /** Where people reach this deployment. */
  readonly publicUrl: string
  readonly log: Log
  readonly metrics: Metrics
  readonly tracing: Tracing
  readonly db: Database
  readonly valkey: Valkey
  readonly blobs: Blobs
  readonly sealer: Sealer
  readonly durable: Durable
  readonly outbound: Outbound
  readonly mesh: Mesh
  readonly orgs: Orgs
  readonly files: Files
  readonly webhooks: Webhooks
  readonly containers: Containers
  readonly limits: Limits
  readonly inference: Inference
  readonly responses: Responses
  readonly batches: Batches
  readonly evals: Evals
}

/** What a deployment, or a test, brings in addition. */
export interface Extras {
  /** Carries out shell calls of hosted environments instead of our containers. */
  readonly shell?: ContainerShell
}

export async function wire(settings: Settings, log: Log, extras: Extras = {}): Promise<Wired> {
  const given = required(settings, 'postgresUrl', 'valkeyUrl', 'restateIngressUrl', 'sealKeys')
  const metrics = createMetrics()
  const tracing = await createTracing({
    ...(settings.otlpUrl === null ? {} : { otlpUrl: settings.otlpUrl }),
    sampleRatio: settings.traceSampleRatio,
    serviceName: 'switchyard',
  })
  const db = openDatabase({
    url: given.postgresUrl,
    connectionsMax: settings.postgresConnectionsMax,
    statementTimeoutMs: settings.postgresStatementTimeoutMs,
    applicationName: 'switchyard',
    onIdleError: (err) => log.warn({ err }, 'idle database connection failed'),
  })
  const valkey = createValkey({ url: given.valkeyUrl, log })
  const blobs = createBlobs(blobOptions(settings))
  const sealKeys = parseSealKeys(given.sealKeys)
  const sealer = createSealer({ keys: sealKeys })
  const meshKeys = sealKeys.map(({ key }) => meshKey(key))
  const mesh = createMesh(meshKeys[0] ?? Buffer.alloc(0))
  const durable = createDurable({
    db: db.as<PlatformTables>(),
    log,
    metrics,
    ingressUrl: given.restateIngressUrl,
    prefix: settings.durablePrefix,
  })

  const outbound = createOutbound(outboundOptions(settings))

  const orgs = createOrgs({ db, log, cellTag: settings.cellTag })
  const files = createFiles({ db, blobs, log, sweepMs: settings.filesSweepMs })
  const containers = createContainers({
    db,
    blobs,
    files,
    orgs,
    mesh,
    meshKeys,
    log,
    activeMax: settings.containersActiveMax,
    sweepMs: settings.containersSweepMs,
    host: hostSettings(settings),
  })
  const webhooks = createWebhooks({
    db,
    sealer,
    outbound,
    log,
    targets: {
      httpAllowed: settings.webhooksHttpAllowed,
      loopbackAllowed: settings.outboundLoopbackAllowed,
      rules: targetRules(settings),
    },
    dispatch: {
      endpointConcurrency: settings.webhooksEndpointConcurrency,
      inFlightMax: settings.webhooksInFlightMax,
      timeScale: settings.webhooksTimeScale,
    },
    retentionDays: settings.webhooksRetentionDays,
  })
  const catalogue = loadCatalogue(settings.models, environmentVariable)
  const limits = createLimits({
    db,
    valkey,
    log,
    orgs,
    publish: webhooks.publish,
    book: loadBook(settings.limits, catalogue.models),
    models: catalogue.models,
    prefix: settings.durablePrefix,
    settlesTokens: settings.limitsSettleTokens,
    withoutValkey: settings.limitsWithoutValkey,
    localShare: settings.limitsLocalShare,
    decisionDays: settings.limitsDecisionsDays,
    usageDays: settings.usageRetentionDays,
    openResponses: (orgId) => responses.openReservations(orgId),
  })
  const inference = createInference({
    catalogue,
    providerLimits: providerLimits(settings),
    limits,
    db,
    log,
    metrics,
    retentionDays: settings.chatCompletionsRetentionDays,
  })
  const responses: Responses = createResponses({
    db,
    archivedOf: orgs.archivedOf,
    valkey,
    durable,
    sealer,
    log,
    inference,
    limits,
    files,
    webhooks,
    shell: extras.shell ?? containers.shell,
    prefix: settings.durablePrefix,
    backgroundMax: settings.responsesBackgroundMax,
    retentionDays: settings.responsesRetentionDays,
    bodyBytesMax: settings.httpBodyBytesMax,
    socketLifetimeMs: settings.responsesSocketLifetimeMs,
    socketStallMs: settings.responsesSocketStallMs,
  })
  const batches = createBatches({
    db,
    archivedOf: orgs.archivedOf,
    durable,
    log,
    metrics,
    files,
    webhooks,
    inference,
    limits,
    responses,
    concurrency: settings.batchesConcurrency,
    projectChunksMax: settings.batchesProjectChunksMax,
    bodyBytesMax: settings.httpBodyBytesMax,
  })
  const publicUrl = settings.publicUrl ?? `http://${settings.httpHost}:${settings.httpPort}`
  const evals = createEvals({
    db,
    archivedOf: orgs.archivedOf,
    durable,
    log,
    metrics,
    files,
    webhooks,
    containers,
    inference,
    limits,
    responses,
    publicUrl,
    concurrency: settings.evalsConcurrency,
    projectChunksMax: settings.evalsProjectChunksMax,
    rowsMax: settings.evalsRowsMax,
    patienceMs: settings.evalsPatienceMs,
  })
  return {
    settings,
    publicUrl,
    log,
    metrics,
    tracing,
    db,
    valkey,
    blobs,
    sealer,
    durable,
    outbound,
    mesh,
    orgs,
    files,
    webhooks,
    containers,
    limits,
    inference,
    responses,
    batches,
    evals,
  }
}

function hostSettings(settings: Settings): Parameters<typeof createContainers>[0]['host'] {
  const bytes = (mebibytes: number) => mebibytes * 1024 ** 2
  const extraAuthorities = environmentVariable('NODE_EXTRA_CA_CERTS')
  return {
    dir: resolve(settings.sandboxDir),
    dockerSocket: settings.sandboxDockerSocket,
    image: settings.sandboxImage,
    runtime: settings.sandboxRuntime,
    memoryBytes: settings.sandboxMemoryMb === 0 ? null : bytes(settings.sandboxMemoryMb),
    overcommit: settings.sandboxOvercommit,
    cpus: settings.sandboxCpus,
    processes: settings.sandboxProcesses,
    poolSize: settings.sandboxPool,
    diskBytesMax: bytes(settings.sandboxDiskMbMax),
    meshHost: settings.meshHost,
    meshPort: settings.meshPort,
    meshUrl: settings.meshUrl,
    egressResolver: settings.egressResolver,
    egressAddresses: settings.egressAddresses,
    egressEnvironment: extraAuthorities === undefined ? {} : { NODE_EXTRA_CA_CERTS: extraAuthorities },
  }
}

function providerLimits(settings: Settings): Parameters<typeof createInference>[0]['providerLimits'] {
  return {
    connectMs: settings.providerConnectTimeoutMs,
    firstPartMs: settings.providerFirstPartTimeoutMs,
    idleMs: settings.providerIdleTimeoutMs,
    answerMs: settings.providerAnswerTimeoutMs,
    connectionsMax: settings.providerConnectionsMax,
  }
}

/** Which addresses that users give may be reached. */
function targetRules(settings: Settings): TargetRules {
  const hosts = settings.outboundHosts.length === 0 ? {} : { hostsAllowed: settings.outboundHosts }
  if (settings.outboundLoopbackAllowed)
    return { allowPrivate: 'loopback', httpAllowed: true, portsAllowed: 'any', ...hosts }
  return { httpAllowed: settings.webhooksHttpAllowed, portsAllowed: settings.outboundPorts.map(Number), ...hosts }
}

/** The one client for addresses that users give. */
function outboundOptions(settings: Settings): Parameters<typeof createOutbound>[0] {
  const { allowPrivate, hostsAllowed, ...rules } = targetRules(settings)
  return {
    ...rules,
    ...(allowPrivate === undefined ? {} : { allowPrivate }),
    ...(hostsAllowed === undefined ? {} : { hostsAllowed }),
    inFlightMax: 2 * settings.webhooksInFlightMax,
    inFlightPerOriginMax: settings.webhooksInFlightMax,
    connectionsPerOriginMax: settings.webhooksInFlightMax,
  }
}

function blobOptions(settings: Settings): Parameters<typeof createBlobs>[0] {
  if (settings.blobsKind === 'disk') return { kind: 'disk', root: settings.blobsDir }
  const s3 = required(settings, 's3Bucket', 's3AccessKeyId', 's3SecretAccessKey')
  return {
    kind: 's3',
    bucket: s3.s3Bucket,
    accessKeyId: s3.s3AccessKeyId,
    secretAccessKey: s3.s3SecretAccessKey,
    region: settings.s3Region,
    pathStyle: settings.s3PathStyle,
    ...(settings.s3Endpoint === null ? {} : { endpoint: settings.s3Endpoint }),
  }
}
