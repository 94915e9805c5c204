import { createWebhookEndpoint, type WebhookEndpointWithSecret } from '@switchyard/contracts/webhooks.ts'
import type { WebhookEventType } from '@switchyard/contracts/webhook-events.ts'
import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { testApp, type TestApp } from '../../../../test/test-app.ts'
import { openSink, type Sink } from './sink.ts'

export interface WebhooksKit {
  readonly app: TestApp
  readonly sink: Sink
  endpoint(path: string, types?: WebhookEventType[]): Promise<WebhookEndpointWithSecret>
  /** Publishes in a transaction of its own, as a module does in the one that changes its state. */
  publish(type: WebhookEventType, ...ids: string[]): Promise<string[]>
}

/** The app with its worker, and a receiver for it to send to. */
export async function webhooksKit(t: TestContext, settings: Record<string, string> = {}): Promise<WebhooksKit> {
  const sink = await openSink()
  t.after(() => sink.close())
  const app = await testApp(t, settings, ['worker', 'api'])
  return {
    app,
    sink,
    async endpoint(path, types = ['response.completed']) {
      const reply = await app.call(createWebhookEndpoint, {
        body: { name: path, url: sink.url + path, event_types: types },
      })
      assert.equal(reply.status, 200, reply.text)
      return reply.body
    },
    publish: (type, ...ids) =>
      app.db.tx((tx) =>
        app.wired.webhooks.publish(tx, ...ids.map((id) => ({ projectId: app.project.id, type, data: { id } }))),
      ),
  }
}
