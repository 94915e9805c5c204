import { OpenAI } from 'openai'
import type { WebhookEventType } from '@switchyard/contracts/webhook-events.ts'
import type { Stack } from '../../dev/stack.ts'
import type { Behaviour, SinkProcess } from './sink.ts'

export interface Endpoint {
  readonly id: string
  readonly path: string
  readonly behaviour: Behaviour
  readonly types: readonly WebhookEventType[]
}

export interface Wanted {
  readonly behaviour: Behaviour
  readonly name: string
  readonly types: readonly WebhookEventType[]
}

/** Makes endpoints over the API, as their owner would, and tells the sink their secrets. */
export async function createEndpoints(stack: Stack, sink: SinkProcess, wanted: readonly Wanted[]): Promise<Endpoint[]> {
  const client = new OpenAI({
    baseURL: `http://127.0.0.1:${stack.httpPort}/v1`,
    apiKey: stack.seeded.projectKey,
    adminAPIKey: stack.seeded.adminKey,
  })
  const endpoints: Endpoint[] = []
  const secrets: Record<string, string> = {}
  for (const [index, { behaviour, name, types }] of wanted.entries()) {
    const path = `/${behaviour}/${name}`
    const made = await client.post<{ id: string; signing_secret: string }>('/webhook_endpoints', {
      body: { name: path, url: sink.urlOf(path, index), event_types: types },
    })
    secrets[path] = made.signing_secret
    endpoints.push({ id: made.id, path, behaviour, types })
  }
  await sink.ask({ kind: 'expect', secrets })
  return endpoints
}
