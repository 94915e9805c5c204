/**
 * Other gateways, installed on demand into a cache outside the repository: nothing of them is a dependency of ours. One
 * that cannot be had is left out, and the run says so.
 */
import { randomBytes } from 'node:crypto'
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { enginesFolder } from '../dev/engines/engines-folder.ts'
import { freePort } from '../dev/engines/free-port.ts'
import { startProcess } from '../dev/engines/process.ts'
import type { Twin } from './in-turn.ts'
import { ask, type ResponsesBench } from './responses-stack.ts'

const portkeyPackages = {
  private: true,
  dependencies: { '@portkey-ai/gateway': '1.15.2' },
  // With what npm takes of itself, every stream of it is answered with a 500: it writes to headers that are read-only.
  overrides: { '@hono/node-server': '1.12.2' },
}
const litellmPackage = 'litellm[proxy]'
const installBoundMs = 600_000
const readyBoundMs = 180_000

export interface Gateway {
  readonly name: string
  /** What it calls the provider's model. */
  readonly model: string
  readonly twin: Twin
}

interface Started {
  readonly command: string
  readonly args: readonly string[]
  readonly env?: NodeJS.ProcessEnv
  readonly headers?: Readonly<Record<string, string>>
  /** What opens it, where it insists on a key. */
  readonly key?: string
}

interface Kind {
  readonly name: string
  readonly model: string
  /** Throws when it cannot be had. */
  prepare(cache: string, provider: string, port: number): Started
}

function run(command: string, args: readonly string[]): void {
  const { status, error, stderr } = spawnSync(command, args, { timeout: installBoundMs, encoding: 'utf8' })
  if (status !== 0) throw new Error(error?.message ?? stderr.trim().split('\n').at(-1))
}

const portkey: Kind = {
  name: 'portkey',
  model: 'bench',
  prepare(cache, provider, port) {
    const folder = join(cache, 'portkey')
    const main = join(folder, 'node_modules', '@portkey-ai', 'gateway', 'build', 'start-server.js')
    if (!existsSync(main)) {
      mkdirSync(folder, { recursive: true })
      writeFileSync(join(folder, 'package.json'), JSON.stringify(portkeyPackages))
      run('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefix', folder])
    }
    return {
      command: process.execPath,
      args: [main, `--port=${port}`, '--headless'],
      env: { NODE_ENV: 'production' },
      headers: { 'x-portkey-provider': 'openai', 'x-portkey-custom-host': `${provider}/v1` },
    }
  },
}

const litellm: Kind = {
  name: 'litellm',
  model: 'bench',
  prepare(cache, provider, port) {
    const venv = join(cache, 'litellm')
    const main = join(venv, 'bin', 'litellm')
    if (!existsSync(main)) {
      run('python3', ['-m', 'venv', venv])
      run(join(venv, 'bin', 'pip'), ['install', '--quiet', litellmPackage])
    }
    const config = join(cache, 'litellm.yaml')
    const params = { model: 'openai/bench', api_base: `${provider}/v1`, api_key: 'none' }
    // JSON is YAML.
    writeFileSync(config, JSON.stringify({ model_list: [{ model_name: 'bench', litellm_params: params }] }))
    // It starts with no key that it finds weak, and looks this one up in memory.
    const key = `sk-${randomBytes(32).toString('hex')}`
    return {
      command: main,
      key,
      args: ['--config', config, '--host', '127.0.0.1', '--port', String(port), '--num_workers', '1'],
      env: {
        LITELLM_LOG: 'ERROR',
        LITELLM_MODE: 'PRODUCTION',
        LITELLM_LOCAL_MODEL_COST_MAP: 'True',
        LITELLM_MASTER_KEY: key,
      },
    }
  },
}

/** Those of them that can be had here. */
export async function startGateways(
  bench: ResponsesBench,
  body: (model: string) => string,
  say: (line: string) => void,
): Promise<Gateway[]> {
  const cache = join(dirname(enginesFolder()), 'bench')
  mkdirSync(cache, { recursive: true })
  const gateways: Gateway[] = []
  for (const kind of [portkey, litellm]) {
    try {
      gateways.push(await start(bench, kind, cache, body))
    } catch (error) {
      say(`chat-gateways: ${kind.name} is left out: ${(error as Error).message}`)
    }
  }
  return gateways
}

async function start(
  { provider, nodesFolder, twins }: ResponsesBench,
  { name, model, prepare }: Kind,
  cache: string,
  body: (model: string) => string,
): Promise<Gateway> {
  const port = await freePort()
  const { command, args, env, headers = {}, key = 'none' } = prepare(cache, provider, port)
  const supervised = await startProcess(command, args, {
    name,
    logFile: join(nodesFolder, `${name}.log`),
    pidFile: join(nodesFolder, `${name}.pid`),
    env: { ...process.env, ...env },
    stopSignal: 'SIGKILL',
  })
  twins.push(supervised)
  const twin: Twin = {
    name,
    pids: [supervised.pid],
    load: { port, key, paths: ['/v1/chat/completions'], headers, body: body(model), connections: 1 },
  }
  await supervised.waitReady(async () => (await ask(twin)) !== '', readyBoundMs)
  return { name, model, twin }
}
