/**
 * What it costs a response to have a hosted shell that it never calls: the time to its first token with `container_auto`
 * against the same without the tool. Nothing is started for it, only a place is reserved.
 */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent, request, type IncomingMessage } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { endHost } from '../dev/sandbox/end-host.ts'
import type { BenchOptions } from './bench-stack.ts'
import type { Figure } from './figure.ts'
import { benchModel, withProvider, type ResponsesBench } from './responses-stack.ts'
import { hostSettings, withSandboxEngine } from './sandbox-stack.ts'
import { ratioOf, takeTurns, type Side, type Turns } from './sandbox-turns.ts'

export type SandboxLazySize = BenchOptions & Omit<Turns, 'label'>

const label = 'sandbox-lazy'
const events = 5
/** A model's, rather than a double's: what is added is held against this. */
const firstTokenMs = 300
const hostedShell = { type: 'shell', environment: { type: 'container_auto' } }

export async function benchSandboxLazy(size: SandboxLazySize, say: (line: string) => void): Promise<Figure[]> {
  return await withSandboxEngine(async (engine) => {
    const folder = mkdtempSync(join(tmpdir(), 'switchyard-sandbox-'))
    const settings = hostSettings(engine, folder, { runtime: 'runc', pool: 0 })
    try {
      return await withProvider({ ...size, events, firstTokenMs, settings, roles: 'api,sandbox' }, async (bench) => {
        const sides = [side(bench, 'with the shell', [hostedShell]), side(bench, 'without', [])]
        const medians = await takeTurns(sides, { ...size, label }, say)
        return [{ name: `${label} first token p50`, ...ratioOf(medians, 0, 1), target: { atMost: 1.05 } }]
      })
    } finally {
      await endHost(engine.socket, folder)
      rmSync(folder, { recursive: true, force: true })
    }
  })
}

function side({ stack }: ResponsesBench, name: string, tools: readonly object[]): Side {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const body = JSON.stringify({ model: benchModel, input: 'How is the line today?', tools, stream: true })
  const headers = { authorization: `Bearer ${stack.seeded.projectKey}`, 'content-type': 'application/json' }
  const asked = { agent, port: stack.httpPort, host: '127.0.0.1', method: 'POST', path: '/v1/responses', headers }
  return {
    name,
    async sample() {
      const began = performance.now()
      const post = request(asked)
      post.end(body)
      const [reply] = (await once(post, 'response')) as [IncomingMessage]
      let text = ''
      let firstAt = Number.NaN
      for await (const chunk of reply) {
        text += String(chunk)
        if (Number.isNaN(firstAt) && text.includes('"response.output_text.delta"')) firstAt = performance.now()
      }
      assert.match(text, /"response\.completed"/)
      return firstAt - began
    },
  }
}
