import { watch } from 'node:fs'
import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { fileURLToPath } from 'node:url'
import { writeDevEnv } from './dev-env.ts'
import { readNodes } from './read-nodes.ts'
import { readSandboxWish } from './sandbox/sandbox.ts'
import { startStack, type Stack } from './stack.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const saveQuietMs = 300
const httpPort = 8080
const tlsPort = 8443
const internalPort = 8081

const help = `npm run dev [-- options]

  --split              each role as a process of its own
  --nodes api=2,worker=2,sandbox=2   several processes a role (api nodes share one port)
  --data DIR           where engines and files live (default .data)
  --no-watch           do not restart the server when a source file is saved

The model \`rehearsal\` is always there; docs/guides/rehearsal.md says what to ask it. SWITCHYARD_MODELS=models.yaml brings
your own models beside it. SWITCHYARD_DEV_SANDBOX_IMAGE=slim|full|none chooses the image of hosted containers (default full).
SWITCHYARD_DEV_TIER=free|tier_1|…|tier_5 brings the limits of a tier, to see 429s (default unlimited: none).
`

function print(line: string): void {
  process.stdout.write(`${line}\n`)
}

function table(stack: Stack, envFile: string): string {
  const rows: [string, string][] = [
    ['API', `http://127.0.0.1:${stack.httpPort}/v1`],
    ['API over TLS', `https://127.0.0.1:${stack.tlsPort}/v1`],
    ...stack.nodes.map((node): [string, string] => [`Health of ${node.name}`, `${node.internalUrl}/readyz`]),
    ...(stack.postgres === null ? [] : [['PostgreSQL', `127.0.0.1:${stack.postgres.port}`] as [string, string]]),
    ['Restate', stack.restate.adminUrl],
    ...(stack.rehearsal === null ? [] : [['Model', 'rehearsal (docs/guides/rehearsal.md)'] as [string, string]]),
    ['Hosted shell', stack.sandbox?.state ?? 'off'],
    ['Project key', stack.seeded.projectKey],
    ['Admin key', stack.seeded.adminKey],
    ['Settings for a shell', envFile],
  ]
  const width = Math.max(...rows.map(([name]) => name.length))
  return rows.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`).join('\n')
}

/** Restarts the server's processes a moment after the last save; the engines stay. */
function restartOnSave(stack: Stack): void {
  let timer: NodeJS.Timeout | undefined
  let restarting = Promise.resolve()
  const restart = async () => {
    for (const node of stack.nodes) {
      await node.process.restart()
      await node.waitReady()
    }
    print('restarted')
  }
  for (const folder of ['server/src', 'packages']) {
    watch(resolve(root, folder), { recursive: true }, (_event, name) => {
      if (name === null || !name.endsWith('.ts') || name.includes('.test.')) return
      clearTimeout(timer)
      timer = setTimeout(() => {
        restarting = restarting
          .then(restart)
          .catch((error: unknown) => print(error instanceof Error ? error.message : String(error)))
      }, saveQuietMs)
    })
  }
}

/** One who is asked to end while starting ends as soon as it can. */
async function untilSignal(): Promise<NodeJS.Signals> {
  return await new Promise((asked) => {
    process.once('SIGTERM', asked)
    process.once('SIGINT', asked)
  })
}

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      split: { type: 'boolean', default: false },
      nodes: { type: 'string' },
      data: { type: 'string', default: process.env['SWITCHYARD_DEV_DATA_DIR'] ?? '.data' },
      watch: { type: 'boolean', default: process.env['CI'] === undefined },
      help: { type: 'boolean', default: false },
    },
    allowNegative: true,
  })
  if (values.help) {
    process.stdout.write(help)
    return 0
  }
  const asked = untilSignal()
  const dataDir = resolve(root, values.data)
  const began = performance.now()
  const postgresUrl = process.env['SWITCHYARD_POSTGRES_URL']
  const valkeyUrl = process.env['SWITCHYARD_VALKEY_URL']
  const stack = await startStack({
    dataDir,
    outboundHosts: [],
    rehearsal: true,
    sandbox: readSandboxWish(process.env['SWITCHYARD_DEV_SANDBOX_IMAGE']),
    nodes: readNodes(values.nodes, values.split),
    ports: {
      http: Number(process.env['SWITCHYARD_HTTP_PORT'] ?? httpPort),
      tls: Number(process.env['SWITCHYARD_TLS_PORT'] ?? tlsPort),
      internal: Number(process.env['SWITCHYARD_INTERNAL_PORT'] ?? internalPort),
    },
    given: { ...(postgresUrl !== undefined && { postgresUrl }), ...(valkeyUrl !== undefined && { valkeyUrl }) },
    onProgress: print,
    onUnexpectedExit: (name, reason) => print(`${name} ended by itself (${reason}); its log is under ${dataDir}`),
  })
  print(`\nSwitchyard is ready after ${((performance.now() - began) / 1_000).toFixed(1)} s.\n`)
  print(table(stack, writeDevEnv(dataDir, stack)))
  print('\nCtrl-C ends everything.\n')
  if (values.watch) restartOnSave(stack)
  const signal = await asked
  print(`${signal}: ending`)
  await stack.stop()
  print('ended')
  return 0
}

// A watcher may still hold the loop open; everything that matters has been stopped by now.
process.exit(await main())
