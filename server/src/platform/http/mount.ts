import type { Operation } from '@switchyard/contracts/operation.ts'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { Fault } from '#platform/errors/fault.ts'
import type { Tracing } from '#platform/telemetry/trace.ts'
import { processingMs, type ServedRequest } from './access-log.ts'
import { authorize } from './authorize.ts'
import { BinaryReply } from './binary-reply.ts'
import { carryOut, type CarryOutUse } from './carry-out.ts'
import { Facts } from './facts.ts'
import type { Gate, Passage } from './gate.ts'
import { announcesBody } from './linger.ts'
import { isMultipart, multipartBytesMax } from './multipart.ts'
import type { Authenticate, Scope } from './principal.ts'
import { multipartOf, readInput } from './read-input.ts'
import type { Route } from './route.ts'
import { jsonType, sendFault } from './send-fault.ts'
import { EventStream, sendEvents } from './sse.ts'

export interface MountUse extends CarryOutUse {
  readonly authenticate: Authenticate
  /** Lets requests of limited operations in. */
  readonly gate: Gate
  readonly tracing: Pick<Tracing, 'spanFrom'>
  readonly bodyBytesMax: number
  /** Replies are checked against the contract: on in dev and tests, off in production. */
  readonly checkReplies: boolean
}

export function mountRoute(app: FastifyInstance, route: Route, use: MountUse): void {
  const { operation } = route
  const refuseBody = bodyGuard(operation, use.bodyBytesMax)
  app.route({
    method: operation.method,
    url: operation.path.replaceAll(/\{([^}]+)\}/g, ':$1'),
    bodyLimit: use.bodyBytesMax,
    // Before the body is read: nothing of it is taken from someone who may not send it.
    async onRequest(request) {
      const served = request as ServedRequest
      served.operation = operation.id
      served.scope = await authorize(operation, request.headers, use.authenticate)
      refuseBody(request)
    },
    ...(operation.limited === undefined ? {} : { errorHandler: countedFault(operation, use) }),
    handler: (request, reply) =>
      use.tracing.spanFrom(request.headers, operation.id, { 'http.request_id': request.id }, () =>
        answer(route, request, reply, use),
      ),
  })
}

/** What the headers alone say against a body: the wrong kind, or too much of it. */
function bodyGuard(operation: Operation, bodyBytesMax: number): (request: FastifyRequest) => void {
  const multipart = multipartOf(operation)
  const bytesMax = multipart === null ? bodyBytesMax : multipartBytesMax(multipart)
  return ({ headers, raw }) => {
    if (multipart === null && !announcesBody(raw)) {
      // Many clients name a type with every request. Where there is no body, there is nothing to wait for or to refuse.
      if (headers['content-type'] !== undefined) delete headers['content-type']
      return
    }
    const type = headers['content-type']
    const takesJson = multipart === null || multipart.json !== undefined
    if (isMultipart(type) ? multipart === null : !takesJson) {
      const reads = [...(takesJson ? ['application/json'] : []), ...(multipart === null ? [] : ['multipart/form-data'])]
      throw new Fault('unsupported_media_type', `This operation reads ${reads.join(' or ')}.`)
    }
    const length = headers['content-length']
    if (length !== undefined && Number(length) > bytesMax) {
      throw new Fault(
        multipart === null ? 'request_too_large' : 'file_too_large',
        `The request body is larger than ${bytesMax} bytes.`,
      )
    }
  }
}

/** A body that cannot be read never comes to the handler. It counts as any other request does. */
function countedFault(operation: Operation, use: MountUse) {
  return (error: Error, request: FastifyRequest, reply: FastifyReply): void => {
    const served = request as ServedRequest
    const counted =
      served.scope === null || served.passed === true
        ? Promise.resolve()
        : enter(operation, request, reply, use).then((passage) => passage?.leave())
    void counted.then(
      () => sendFault(error, request, reply, use.log),
      (refused: unknown) => sendFault(refused, request, reply, use.log),
    )
  }
}

async function enter(
  operation: Operation,
  request: FastifyRequest,
  reply: FastifyReply,
  use: MountUse,
): Promise<Passage | null> {
  if (operation.limited === undefined) return null
  const served = request as ServedRequest
  served.passed = true
  const { params, body, id: requestId } = request
  const passage = await use.gate({ operation, scope: served.scope as Scope, params, body, requestId })
  if (passage !== null) reply.headers(passage.headers)
  return passage
}

async function answer(route: Route, request: FastifyRequest, reply: FastifyReply, use: MountUse): Promise<unknown> {
  const passage = await enter(route.operation, request, reply, use)
  if (passage === null) return await carried(route, request, reply, null, use)
  try {
    const result = await carried(route, request, reply, passage, use)
    // Whoever took what the request was given has settled it by now; a stream settles when it ends, by itself.
    if (result !== undefined) passage.leave()
    return result
  } catch (error) {
    passage.leave()
    throw error
  }
}

async function carried(
  route: Route,
  request: FastifyRequest,
  reply: FastifyReply,
  passage: Passage | null,
  use: MountUse,
): Promise<unknown> {
  const { operation } = route
  const facts = new Facts(request.id, request.raw, reply.raw)
  const read = readInput(route, request, (request as ServedRequest).scope as Scope, facts, passage)
  const input = read instanceof Promise ? await read : read
  const result = await carryOut(route, input, idempotencyKey(operation, request), use)
  reply.header('openai-version', '2020-10-01')
  reply.header('openai-processing-ms', String(Math.round(processingMs(request))))
  if (result instanceof EventStream) {
    await sendEvents(reply, result, facts, use.log)
    return undefined
  }
  if (result instanceof BinaryReply) return sendBinary(reply, result, facts, use)
  if (use.checkReplies && operation.reply !== 'binary') operation.reply.parse(result)
  reply.header('content-type', jsonType)
  return JSON.stringify(result)
}

/** The framework cuts the connection when the stream fails midway, as it must; the log is told here. */
function sendBinary(
  reply: FastifyReply,
  { status, headers, stream }: BinaryReply,
  facts: Facts,
  use: MountUse,
): unknown {
  stream.once('error', (err) => {
    if (reply.raw.headersSent && !facts.signal.aborted) {
      use.log.error({ err, requestId: facts.id }, 'a download ended early')
    }
  })
  reply.code(status).headers(headers)
  return stream
}

function idempotencyKey(operation: Operation, request: FastifyRequest): string | undefined {
  const key = operation.creates === true ? request.headers['idempotency-key'] : undefined
  return typeof key === 'string' ? key : undefined
}
