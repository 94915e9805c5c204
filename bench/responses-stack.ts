import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { freePort } from '../dev/engines/free-port.ts'
import { startProcess } from '../dev/engines/process.ts'
import type { RelayOptions } from './bare-relay.ts'
import { withBench, type Bench, type BenchOptions } from './bench-stack.ts'
import type { Twin } from './in-turn.ts'
import type { ProviderOptions } from './provider-double.ts'

export const benchModel = 'bench-2026-11-01'
const contextWindow = 10_000_000
const relayConnections = 256
const readyBoundMs = 20_000

export interface ResponsesBench extends Bench {
  /** Where the provider listens, and the models file says it does. */
  readonly provider: string
}

/** Engines, one api process, and a provider that every twin asks. */
export async function withProvider<Result>(
  options: BenchOptions & Pick<ProviderOptions, 'events' | 'firstTokenMs'>,
  work: (bench: ResponsesBench) => Promise<Result>,
): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-bench-'))
  const port = await freePort()
  const provider = `http://127.0.0.1:${port}`
  const modelsFile = join(folder, 'models.yaml')
  const model = {
    id: benchModel,
    provider: { kind: 'openai-compatible', base_url: `${provider}/v1` },
    provider_model: 'bench',
    context_window: contextWindow,
    max_output_tokens: 100_000,
  }
  // JSON is YAML.
  writeFileSync(modelsFile, JSON.stringify({ models: [model] }))
  try {
    return await withBench(
      { ...options, settings: { ...options.settings, SWITCHYARD_MODELS: modelsFile } },
      async (bench) => {
        const { events, firstTokenMs = 0 } = options
        await startTwin<ProviderOptions>(bench, 'provider-double', { port, events, firstTokenMs })
        return await work({ ...bench, provider })
      },
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Starts `<name>.ts` of this folder, which reads its options from the environment. Returns its pid. */
async function startTwin<Options extends { port: number }>(
  { nodesFolder, twins }: Bench,
  name: string,
  options: Options,
): Promise<number> {
  const supervised = await startProcess(process.execPath, [fileURLToPath(new URL(`${name}.ts`, import.meta.url))], {
    name,
    logFile: join(nodesFolder, `${name}.log`),
    pidFile: join(nodesFolder, `${name}.pid`),
    env: { ...process.env, BENCH_OPTIONS: JSON.stringify(options) },
  })
  twins.push(supervised)
  await supervised.waitReady(async () => (await fetch(`http://127.0.0.1:${options.port}/`)).ok, readyBoundMs)
  return supervised.pid
}

export type Asked = Pick<Twin['load'], 'body' | 'connections'> & { readonly path: string }

export function ourTwin({ stack }: ResponsesBench, { path, ...rest }: Asked): Twin {
  const { httpPort: port, seeded, nodes } = stack
  return {
    name: 'ours',
    pids: [nodes[0]?.process.pid ?? 0],
    load: { port, key: seeded.projectKey, paths: [path], ...rest },
  }
}

export async function bareTwin(bench: ResponsesBench, { path, ...rest }: Asked): Promise<Twin> {
  const port = await freePort()
  const pid = await startTwin<RelayOptions>(bench, 'bare-relay', {
    port,
    provider: bench.provider,
    connections: relayConnections,
  })
  return { name: 'bare', pids: [pid], load: { port, key: 'none', paths: [path], ...rest } }
}

/** Asks a twin once, as the load generator will. A twin that says something else would be compared in vain. */
export async function ask({ name, load }: Twin, body = load.body): Promise<string> {
  const reply = await fetch(`http://127.0.0.1:${load.port}${load.paths[0]}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${load.key}`, 'content-type': 'application/json', ...load.headers },
    ...(body !== undefined && { body }),
  })
  const text = await reply.text()
  assert.equal(reply.status, 200, `${name} answered ${text}`)
  return text
}
