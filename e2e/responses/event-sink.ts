import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Arrived {
  readonly type: string
  readonly responseId: string
}

/** A receiver of webhooks that answers 200 and remembers every webhook-id with what it told. */
export class EventSink {
  readonly byWebhookId = new Map<string, Arrived>()
  requests = 0
  readonly #server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8')
    request.on('data', (chunk: string) => (body += chunk))
    request.on('end', () => {
      this.#take(String(request.headers['webhook-id']), body)
      response.writeHead(200).end()
    })
  })

  #take(webhookId: string, body: string): void {
    this.requests += 1
    const { type, data } = JSON.parse(body) as { type: string; data: { id: string } }
    this.byWebhookId.set(webhookId, { type, responseId: data.id })
  }

  /** Types of the events that told of a response, one a webhook-id. */
  typesOf(): Map<string, string[]> {
    const types = new Map<string, string[]>()
    for (const { type, responseId } of this.byWebhookId.values()) {
      types.set(responseId, [...(types.get(responseId) ?? []), type])
    }
    return types
  }

  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve))
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/hook`
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }
}
