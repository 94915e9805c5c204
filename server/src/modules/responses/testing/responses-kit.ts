import assert from 'node:assert/strict'
import type { TestContext } from 'node:test'
import { createConversation, listConversationItems } from '@switchyard/contracts/conversations.ts'
import type { StoredItem } from '@switchyard/contracts/responses/items.ts'
import { createResponse } from '@switchyard/contracts/responses/operations.ts'
import type { Response } from '@switchyard/contracts/responses/response.ts'
import type { CallInput } from '../../../../test/call-operation.ts'
import type { ProviderDouble } from '../../../../test/provider-double.ts'
import { testApp, type TestApp } from '../../../../test/test-app.ts'

type Body = Record<string, unknown>

/** One app for the tests of a file, with short words for what they ask again and again. */
export interface ResponsesKit {
  readonly app: TestApp
  readonly double: ProviderDouble
  /** Creates a response with the model of the chat wire unless told otherwise; anything but 200 fails the test. */
  create(body: Body): Promise<Response>
  /** The same, as a refusal: status, code, param and the reply itself. */
  refusal(body: Body, input?: CallInput): Promise<[number, string | null, string | null]>
  ask(body: Body, input?: CallInput): ReturnType<TestApp['call']>
  /** A conversation with these items. */
  conversation(items?: readonly Body[]): Promise<string>
  /** What a conversation holds, oldest first. */
  said(conversationId: string): Promise<StoredItem[]>
  /** The body of the newest request to the provider. */
  told(): Body
}

export async function responsesKit(
  t: TestContext,
  settings: Record<string, string> = {},
  roles?: Parameters<typeof testApp>[2],
): Promise<ResponsesKit> {
  const app = await testApp(t, settings, roles)
  const ask = (body: Body, input: CallInput = {}) =>
    app.call(createResponse, { body: { model: 'double-chat', input: 'Hello.', ...body }, ...input })
  return {
    app,
    double: app.double,
    ask,
    async create(body) {
      const reply = await ask(body)
      assert.equal(reply.status, 200, reply.text)
      return reply.body
    },
    async refusal(body, input) {
      const { status, error } = await ask(body, input)
      return [status, error?.code ?? null, error?.param ?? null]
    },
    async conversation(items = []) {
      const reply = await app.call(createConversation, { body: { items } })
      assert.equal(reply.status, 200, reply.text)
      return reply.body.id
    },
    async said(conversationId) {
      const params = { conversation_id: conversationId }
      const reply = await app.call(listConversationItems, { params, query: { order: 'asc', limit: 100 } })
      assert.equal(reply.status, 200, reply.text)
      return reply.body.data
    },
    told: () => app.double.requests.at(-1)?.body ?? {},
  }
}

/** The text of a message, whoever wrote it; of anything else its type. */
export function textIn(item: StoredItem | undefined): string {
  if (item?.type !== 'message') return item?.type ?? ''
  return item.content
    .map((part) => ('text' in part ? part.text : 'refusal' in part ? part.refusal : part.type))
    .join('')
}

export const functionTool = (name: string) => ({ type: 'function', name, parameters: { type: 'object' } })
