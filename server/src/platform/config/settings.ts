import { sandboxSettings } from './sandbox-settings.ts'
import { choice, days, flag, integer, list, ms, port, ratio, text, url, type Setting } from './setting.ts'

/** Every setting, by the name of its environment variable. The reference page is printed from this table. */
export const settings = {
  SWITCHYARD_ROLES: list({
    fallback: ['all'],
    description: 'Roles this process runs: all, or any of api, worker, sandbox.',
  }),
  SWITCHYARD_CELL_TAG: text({
    fallback: 'c0',
    pattern: { like: /^[a-z0-9]{1,8}$/, says: 'must be one to eight lower-case letters and digits' },
    description: 'Short tag of this cell; keys and project ids carry it so that an edge can route without a lookup.',
  }),
  SWITCHYARD_LOG_LEVEL: choice({
    options: ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
    fallback: 'info',
    description: 'Least important lines that are written.',
  }),
  SWITCHYARD_LOG_PRETTY: flag({ fallback: false, description: 'Lines for people instead of JSON.' }),
  SWITCHYARD_OTLP_URL: url({
    protocols: ['http', 'https'],
    description: 'Address of an OTLP/HTTP collector. Without it no span is recorded.',
  }),
  SWITCHYARD_TRACE_SAMPLE_RATIO: ratio({
    fallback: 0.01,
    description: 'Share of requests that are traced when a collector is set.',
  }),
  SWITCHYARD_DRAIN_TIMEOUT_MS: ms(600_000, 'How long SIGTERM waits for work in hand before it is cut.'),

  SWITCHYARD_POSTGRES_URL: url({
    protocols: ['postgres', 'postgresql'],
    secret: true,
    description: 'PostgreSQL 15 or newer: the system of record. Required.',
  }),
  SWITCHYARD_POSTGRES_CONNECTIONS_MAX: integer({
    fallback: 20,
    min: 1,
    max: 1_000,
    unit: 'connections',
    description: 'Largest pool of one process.',
  }),
  SWITCHYARD_POSTGRES_STATEMENT_TIMEOUT_MS: ms(15_000, 'Longest a statement or an idle transaction may take.'),
  SWITCHYARD_VALKEY_URL: url({
    protocols: ['redis', 'rediss'],
    secret: true,
    description: 'Valkey 8 (or Redis 7): caches that may be lost. Required.',
  }),

  SWITCHYARD_LIMITS_SETTLE_TOKENS: flag({
    fallback: false,
    description:
      'Token limits are corrected to what a request really used. Without it the charge stands as it was estimated.',
  }),
  SWITCHYARD_LIMITS_WITHOUT_VALKEY: choice({
    options: ['local', 'refuse'],
    fallback: 'local',
    description:
      'What becomes of limited requests while Valkey is away: each process limits by itself, or none is let in.',
  }),
  SWITCHYARD_LIMITS_LOCAL_SHARE: ratio({
    fallback: 0.25,
    description: 'Share of every limit that one process has while Valkey is away. One over the number of api nodes.',
  }),
  SWITCHYARD_LIMITS_DECISIONS_DAYS: integer({
    fallback: 7,
    min: 1,
    max: 90,
    unit: 'days',
    description: 'How long it can be explained why a request was let in or not.',
  }),
  SWITCHYARD_USAGE_RETENTION_DAYS: days(400, 62, 'How long the ledger of usage is kept.'),

  SWITCHYARD_RESTATE_INGRESS_URL: url({
    protocols: ['http', 'https'],
    description: 'Where work is handed to the durable engine. Required.',
  }),
  SWITCHYARD_RESTATE_ADMIN_URL: url({
    protocols: ['http', 'https'],
    description: 'Where workers register with the durable engine. Required by the role worker.',
  }),
  SWITCHYARD_RESTATE_IDENTITY_KEY: text({
    fallback: null,
    description:
      'Public key (publickeyv1_…) of the engine: workers refuse requests that it did not sign. Required by the role worker.',
  }),
  SWITCHYARD_DURABLE_PREFIX: text({
    fallback: 'switchyard',
    description: 'Prefix of our service names, so that several stacks can share one engine.',
  }),
  SWITCHYARD_DURABLE_SWEEP_MS: ms(10_000, 'How often work that stopped moving is looked for and sent again.'),
  SWITCHYARD_WORKER_HOST: text({ fallback: '127.0.0.1', description: 'Address the worker listens on for the engine.' }),
  SWITCHYARD_WORKER_PORT: port(9080, 'Port the worker listens on for the engine; workers of one machine share it.'),
  SWITCHYARD_WORKER_URL: url({
    protocols: ['http', 'https'],
    description: 'Address the engine reaches all workers at. Default: http:// worker host and port.',
  }),

  SWITCHYARD_HTTP_HOST: text({ fallback: '127.0.0.1', description: 'Address of the public API.' }),
  SWITCHYARD_PUBLIC_URL: url({
    protocols: ['http', 'https'],
    description:
      'Where people reach this deployment, as it stands in links (report_url). Without it: host and port of the API.',
  }),
  SWITCHYARD_HTTP_PORT: port(8080, 'Port of the public API.'),
  SWITCHYARD_HTTP_REUSE_PORT: flag({
    fallback: false,
    description: 'Several api processes of one machine share the port.',
  }),
  SWITCHYARD_HTTP_BODY_BYTES_MAX: integer({
    fallback: 1_048_576,
    min: 1_024,
    max: 67_108_864,
    unit: 'bytes',
    description: 'Largest JSON body.',
  }),
  SWITCHYARD_HTTP_REQUEST_TIMEOUT_MS: ms(600_000, 'How long a whole request may take to arrive.'),
  SWITCHYARD_HTTP_CONNECTIONS_MAX: integer({
    fallback: 20_000,
    min: 1,
    max: 1_000_000,
    unit: 'connections',
    description: 'Open connections of one process; further ones are refused.',
  }),
  SWITCHYARD_HTTP_SOCKETS_MAX: integer({
    fallback: 10_000,
    min: 1,
    max: 1_000_000,
    unit: 'sockets',
    description: 'Open WebSockets of one process.',
  }),
  SWITCHYARD_HTTP_CORS_ORIGINS: list({
    fallback: [],
    each: {
      like: /^(?:\*|https?:\/\/[^/\s]+)$/,
      says: 'must be * or origins such as https://app.example, without a path',
    },
    description: 'Origins that browsers may call from; empty means none, * means any.',
  }),
  SWITCHYARD_HTTP_CHECK_REPLIES: flag({
    fallback: false,
    description: 'Check every reply against the contract and answer 500 when it differs. For dev and tests.',
  }),
  SWITCHYARD_TLS_PORT: port(0, 'Port of the TLS listener; 0 means none.'),
  SWITCHYARD_TLS_CERT_FILE: text({ fallback: null, description: 'Certificate chain of the TLS listener (PEM).' }),
  SWITCHYARD_TLS_KEY_FILE: text({ fallback: null, description: 'Private key of the TLS listener (PEM).' }),
  SWITCHYARD_INTERNAL_HOST: text({
    fallback: '127.0.0.1',
    description: 'Address of /healthz, /readyz and /metrics. Keep it private.',
  }),
  SWITCHYARD_INTERNAL_PORT: port(8081, 'Port of /healthz, /readyz and /metrics.'),

  SWITCHYARD_SEAL_KEYS: text({
    fallback: null,
    secret: true,
    description:
      'Keys that seal secrets at rest, as id:base64 of 32 bytes, comma-separated: the first seals, all open. Required.',
  }),
  SWITCHYARD_BLOBS_KIND: choice({
    options: ['disk', 's3'],
    fallback: 'disk',
    description: 'Where file contents are kept.',
  }),
  SWITCHYARD_BLOBS_DIR: text({
    fallback: '.data/blobs',
    description: 'Folder of the kind disk. All processes of one machine share it.',
  }),
  SWITCHYARD_S3_ENDPOINT: url({
    protocols: ['http', 'https'],
    description: 'Address of the S3 API; default: that of the region.',
  }),
  SWITCHYARD_S3_BUCKET: text({ fallback: null, description: 'Bucket of the kind s3.' }),
  SWITCHYARD_S3_REGION: text({ fallback: 'us-east-1', description: 'Region of the bucket.' }),
  SWITCHYARD_S3_ACCESS_KEY_ID: text({ fallback: null, secret: true, description: 'Access key of the bucket.' }),
  SWITCHYARD_S3_SECRET_ACCESS_KEY: text({ fallback: null, secret: true, description: 'Secret of the access key.' }),
  SWITCHYARD_S3_PATH_STYLE: flag({ fallback: true, description: 'Bucket in the path rather than in the host name.' }),

  SWITCHYARD_OUTBOUND_LOOPBACK_ALLOWED: flag({
    fallback: false,
    description:
      'Addresses that users give may point at this machine, over http and on any port. For development only.',
  }),
  SWITCHYARD_OUTBOUND_PORTS: list({
    fallback: ['443', '80'],
    each: { like: /^\d{1,5}$/, says: 'must be port numbers' },
    description: 'Ports that addresses given by users may name.',
  }),
  SWITCHYARD_OUTBOUND_HOSTS: list({
    fallback: [],
    description: 'The only hosts that addresses given by users may name; empty means every public host.',
  }),
  SWITCHYARD_EGRESS_RESOLVER: text({
    fallback: null,
    pattern: {
      like: /^(?:\d{1,3}(?:\.\d{1,3}){3}|\[[0-9a-f:.]+\])(?::\d{1,5})?$/i,
      says: 'must be an address such as 10.0.0.2:53 or [2001:db8::2]:53',
    },
    description: 'DNS server that the egress proxy of containers asks; default: those of the machine.',
  }),
  SWITCHYARD_EGRESS_ADDRESSES: list({
    fallback: [],
    each: { like: /^[0-9a-f:.]+\/\d{1,3}$/i, says: 'must be ranges such as 10.20.0.0/16' },
    description:
      'Ranges of private networks in which names that an organisation lists may have addresses; empty means none.',
  }),
  SWITCHYARD_MODELS: text({
    fallback: null,
    description: 'Path of the YAML file that lists the models and their providers. Without it there is no model.',
  }),
  SWITCHYARD_LIMITS: text({
    fallback: null,
    description: 'Path of the YAML file with the numbers of the usage tiers. Without it the standard ones hold.',
  }),
  SWITCHYARD_PROVIDER_CONNECTIONS_MAX: integer({
    fallback: 256,
    min: 1,
    max: 10_000,
    unit: 'connections',
    description: 'Connections that one process opens to one model provider. Four times as many requests may wait.',
  }),
  SWITCHYARD_PROVIDER_CONNECT_TIMEOUT_MS: ms(10_000, 'Longest a connection to a model provider may take to open.'),
  SWITCHYARD_PROVIDER_FIRST_PART_TIMEOUT_MS: ms(120_000, 'Longest wait for the first event of a streamed answer.'),
  SWITCHYARD_PROVIDER_IDLE_TIMEOUT_MS: ms(60_000, 'Longest silence in the middle of an answer of a model provider.'),
  SWITCHYARD_PROVIDER_ANSWER_TIMEOUT_MS: ms(600_000, 'Longest wait for an answer that is not streamed.'),

  SWITCHYARD_CHAT_COMPLETIONS_RETENTION_DAYS: days(
    30,
    1,
    'How long chat completions that asked to be stored are kept.',
  ),

  SWITCHYARD_RESPONSES_BACKGROUND_MAX: integer({
    fallback: 500,
    min: 1,
    max: 100_000,
    unit: 'responses',
    description: 'Background responses of one project that are under way at once. The rest wait their turn.',
  }),
  SWITCHYARD_RESPONSES_RETENTION_DAYS: days(30, 1, 'How long stored responses are kept, with their items and events.'),
  SWITCHYARD_RESPONSES_SOCKET_LIFETIME_MS: integer({
    fallback: 3_600_000,
    min: 100,
    max: 86_400_000,
    unit: 'ms',
    description: 'How long a WebSocket of /v1/responses lasts before its client must open another one.',
  }),
  SWITCHYARD_RESPONSES_SOCKET_STALL_MS: integer({
    fallback: 60_000,
    min: 100,
    max: 3_600_000,
    unit: 'ms',
    description: 'A client of such a socket that leaves events unread and reads nothing for this long is cut.',
  }),

  SWITCHYARD_EVALS_CONCURRENCY: integer({
    fallback: 128,
    min: 1,
    max: 4_096,
    unit: 'count',
    description:
      'Rows of eval runs that one worker has in hand at once, and an eighth more for projects that find all taken; fewer where the rate limits leave less.',
  }),
  SWITCHYARD_EVALS_PROJECT_CHUNKS_MAX: integer({
    fallback: 8,
    min: 1,
    max: 1_000,
    unit: 'count',
    description: 'Chunks of about 100 rows that are under way at once for one project, over all its eval runs.',
  }),
  SWITCHYARD_EVALS_ROWS_MAX: integer({
    fallback: 1_000_000,
    min: 1,
    max: 100_000_000,
    unit: 'count',
    description: 'Rows of one eval run.',
  }),
  SWITCHYARD_EVALS_PATIENCE_MS: integer({
    fallback: 300_000,
    min: 1_000,
    max: 500_000,
    unit: 'ms',
    description: 'How long an eval run waits for a model provider that answers nobody before it ends as failed.',
  }),
  SWITCHYARD_BATCHES_CONCURRENCY: integer({
    fallback: 16,
    min: 1,
    max: 1_000,
    unit: 'lines',
    description:
      'Lines of batches that one worker carries out at once, and an eighth more for projects that find all taken. Batches use what other work leaves.',
  }),
  SWITCHYARD_BATCHES_PROJECT_CHUNKS_MAX: integer({
    fallback: 4,
    min: 1,
    max: 1_000,
    unit: 'chunks',
    description: 'Chunks of about 100 lines that are under way at once for one project, over all its batches.',
  }),

  SWITCHYARD_WEBHOOKS_HTTP_ALLOWED: flag({
    fallback: false,
    description: 'Webhook endpoints may use http on public hosts.',
  }),
  SWITCHYARD_WEBHOOKS_ENDPOINT_CONCURRENCY: integer({
    fallback: 16,
    min: 1,
    max: 1_000,
    unit: 'requests',
    description: 'Deliveries to one endpoint at once.',
  }),
  SWITCHYARD_WEBHOOKS_IN_FLIGHT_MAX: integer({
    fallback: 256,
    min: 1,
    max: 10_000,
    unit: 'requests',
    description: 'Deliveries of one worker at once, over all endpoints.',
  }),
  SWITCHYARD_WEBHOOKS_TIME_SCALE: ratio({
    fallback: 1,
    description:
      'Shrinks the 72-hour schedule of webhook deliveries, so that a whole one can be watched in minutes. For tests.',
  }),
  SWITCHYARD_WEBHOOKS_RETENTION_DAYS: days(30, 4, 'How long webhook events and the log of attempts are kept.'),

  ...sandboxSettings,

  SWITCHYARD_FILES_SWEEP_MS: ms(1_000, 'How often expired files and abandoned uploads are looked for.'),
} as const satisfies Record<string, Setting<unknown>>

export type SettingName = keyof typeof settings
type ValueOf<S> = S extends Setting<infer Value> ? Value : never

/** `SWITCHYARD_HTTP_PORT` is `httpPort`. */
type Camel<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Lowercase<Head>}${CamelRest<Tail>}`
  : Lowercase<Name>
type CamelRest<Name extends string> = Name extends `${infer Head}_${infer Tail}`
  ? `${Capitalize<Lowercase<Head>>}${CamelRest<Tail>}`
  : Capitalize<Lowercase<Name>>
type Unprefixed<Name extends string> = Name extends `SWITCHYARD_${infer Rest}` ? Rest : Name

export type Settings = { readonly [Name in SettingName as Camel<Unprefixed<Name>>]: ValueOf<(typeof settings)[Name]> }
