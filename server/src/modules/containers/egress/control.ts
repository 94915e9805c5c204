import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AttachGiven, EgressProxy } from './proxy.ts'
import type { Organization } from './rules.ts'
import type { GivenSecret } from './secrets.ts'

/** Every operation of the control socket: what is sent and what comes back. Both ends are compiled against it. */
export type ControlOperations = {
  ping: { given: Record<string, never>; reply: { pid: number; startedAt: string } }
  reload: { given: Record<string, never>; reply: Record<string, never> }
  park: { given: { containerId: string; secrets: readonly GivenSecret[] }; reply: Record<string, never> }
  keep: { given: { containerId: string }; reply: { held: boolean } }
  attach: { given: AttachGiven; reply: Awaited<ReturnType<EgressProxy['attach']>> }
  setOrganization: { given: Organization & { organizationId: string }; reply: Record<string, never> }
  detach: { given: { containerId: string }; reply: { detached: boolean } }
  list: { given: Record<string, never>; reply: { containers: ReturnType<EgressProxy['list']> } }
  receipts: { given: { after: number }; reply: ReturnType<EgressProxy['receipts']> }
}

export type ControlName = keyof ControlOperations
type Handlers = {
  [Name in ControlName]: (
    given: ControlOperations[Name]['given'],
  ) => ControlOperations[Name]['reply'] | Promise<ControlOperations[Name]['reply']>
}

const BODY_BYTES_MAX = 4 * 1_048_576

/** Answers the role on the control socket. The folder it lies in is closed to other users: who can connect may ask. */
export function createControl(proxy: EgressProxy, reload: () => Promise<void>, startedAt: Date): Server {
  const handlers: Handlers = {
    ping: () => ({ pid: process.pid, startedAt: startedAt.toISOString() }),
    reload: async () => {
      await reload()
      return {}
    },
    park: ({ containerId, secrets }) => {
      proxy.park(containerId, secrets)
      return {}
    },
    keep: ({ containerId }) => ({ held: proxy.keep(containerId) }),
    attach: (given) => proxy.attach(given),
    setOrganization: ({ organizationId, ...organization }) => {
      proxy.setOrganization(organizationId, organization)
      return {}
    },
    detach: async ({ containerId }) => ({ detached: await proxy.detach(containerId) }),
    list: () => ({ containers: proxy.list() }),
    receipts: ({ after }) => proxy.receipts(after),
  }
  // One after the other: an attach and a detach of one container must not overtake each other.
  let last: Promise<unknown> = Promise.resolve()
  return createServer((request, response) => {
    const answered = last.then(() => answer(handlers, request))
    last = answered
    void answered.then(({ status, body }) => {
      response.writeHead(status, { 'content-type': 'application/json' })
      response.end(JSON.stringify(body))
    })
  })
}

async function answer(handlers: Handlers, request: IncomingMessage): Promise<{ status: number; body: unknown }> {
  const name = (request.url ?? '').slice(1)
  if (!Object.hasOwn(handlers, name)) return { status: 404, body: { error: 'no such operation' } }
  try {
    const handler = handlers[name as ControlName] as (given: unknown) => unknown
    return { status: 200, body: await handler(await readBody(request)) }
  } catch (error) {
    return { status: 400, body: { error: error instanceof Error ? error.message : 'failed' } }
  }
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > BODY_BYTES_MAX) throw new Error('the request is too large')
    chunks.push(chunk)
  }
  const text = Buffer.concat(chunks).toString('utf8')
  for (const chunk of chunks) chunk.fill(0)
  try {
    return JSON.parse(text)
  } catch {
    // The parser's own message quotes what it read, which may be a secret.
    throw new Error('the request is not JSON')
  }
}
