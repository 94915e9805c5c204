import type { BatchEndpoint } from '@switchyard/contracts/batches.ts'

const bodies: Readonly<Record<BatchEndpoint, (text: string) => object>> = {
  '/v1/responses': (text) => ({ input: text }),
  '/v1/chat/completions': (text) => ({ messages: [{ role: 'user', content: text }] }),
  '/v1/completions': (text) => ({ prompt: text }),
}

/** A line that asks the double to say a text again. */
export function batchLine(endpoint: BatchEndpoint, customId: string, text: string, more: object = {}): object {
  const body = { model: 'double-chat', ...bodies[endpoint](text), ...more }
  return { custom_id: customId, method: 'POST', url: endpoint, body }
}
