import type { MultipartBody, Operation } from '@switchyard/contracts/operation.ts'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import type { Db } from '#platform/db/db.ts'
import type { Tx } from '#platform/db/tx.ts'
import { Fault } from '#platform/errors/fault.ts'
import { assert } from '#platform/std/assert.ts'
import type { Log } from '#platform/telemetry/log.ts'
import { authorize } from './authorize.ts'
import { BinaryReply } from './binary-reply.ts'
import { openFacts } from './facts.ts'
import type { Claim, Idempotency } from './idempotency.ts'
import { readMultipart } from './multipart.ts'
import type { Authenticate, Scope } from './principal.ts'
import { parseQuery } from './query.ts'
import type { AnyInput, Route } from './route.ts'
import { EventStream, sendEvents } from './sse.ts'
import { isStorable, refuseUnstorable, validate } from './validate.ts'

export interface MountUse {
  readonly authenticate: Authenticate
  readonly idempotency: Idempotency
  readonly db: Pick<Db<unknown>, 'tx'>
  readonly log: Log
  readonly bodyBytesMax: number
  /** Replies are checked against the contract: on in dev and tests, off in production. */
  readonly checkReplies: boolean
}

/** Room for the boundaries and fields around the file of a multipart body. */
const multipartOverheadBytes = 1024 * 1024

export function mountRoute(app: FastifyInstance, route: Route, use: MountUse): void {
  const { operation } = route
  const multipart = multipartOf(operation)
  const bytesMax = multipart === null ? use.bodyBytesMax : multipart.file.bytesMax + multipartOverheadBytes
  app.route({
    method: operation.method,
    url: operation.path.replaceAll(/\{([^}]+)\}/g, ':$1'),
    bodyLimit: bytesMax,
    config: { operation: operation.id },
    async onRequest(request) {
      const scope = await authorize(operation, request.headers, use.authenticate)
      request.setDecorator('scope', scope)
      if (Number(request.headers['content-length'] ?? 0) > bytesMax) {
        throw new Fault(
          multipart === null ? 'request_too_large' : 'file_too_large',
          'The request body is larger than this operation accepts.',
        )
      }
    },
    handler: (request, reply) => answer(route, request, reply, use),
  })
}

async function answer(route: Route, request: FastifyRequest, reply: FastifyReply, use: MountUse): Promise<unknown> {
  const input = await readInput(route, request, reply)
  let result: unknown
  try {
    result = await carryOut(route, input, request, use)
  } catch (error) {
    if (input.file !== null) await route.receiver?.discard(input.file)
    throw error
  }
  reply.header('openai-version', '2020-10-01').header('openai-processing-ms', String(Math.round(reply.elapsedTime)))
  if (result instanceof BinaryReply) return await reply.code(result.status).headers(result.headers).send(result.stream)
  if (result instanceof EventStream) return await sendEvents(reply, result, input.request.signal)
  if (use.checkReplies && route.operation.reply !== 'binary') route.operation.reply.parse(result)
  reply.header('content-type', 'application/json; charset=utf-8')
  return await reply.send(JSON.stringify(result))
}

async function readInput(route: Route, request: FastifyRequest, reply: FastifyReply): Promise<AnyInput> {
  const { operation } = route
  const facts = openFacts(request, reply)
  const scope = request.getDecorator<Scope>('scope')
  const params = readParams(operation, request.params as Record<string, string>)
  const query = readQuery(operation, (request.query as { text?: string }).text ?? '')
  const multipart = multipartOf(operation)
  if (multipart === null)
    return { scope, params, query, body: readJson(operation, request), request: facts, file: null }
  if (!(request.headers['content-type'] ?? '').startsWith('multipart/form-data')) {
    throw new Fault('unsupported_media_type', 'This operation reads multipart/form-data.')
  }
  const { receiver } = route
  assert(receiver !== null, 'a multipart operation is bound with uploadRoute')
  const { fields, received } = await readMultipart(
    request.raw,
    multipart,
    (file) => receiver.receive(file, { scope, params, request: facts }),
    (file) => receiver.discard(file),
  )
  try {
    return { scope, params, query, body: validate(multipart.fields, fields), request: facts, file: received }
  } catch (error) {
    await receiver.discard(received)
    throw error
  }
}

function multipartOf(operation: Operation): MultipartBody | null {
  return operation.body !== undefined && 'kind' in operation.body ? operation.body : null
}

function readParams(operation: Operation, params: Record<string, string>): unknown {
  // An id that cannot be stored cannot exist, and is answered as one that does not.
  for (const value of Object.values(params))
    if (!isStorable(value)) throw new Fault('not_found', 'There is no such path.')
  if (operation.params === undefined) return undefined
  const parsed = operation.params.safeParse(params)
  if (!parsed.success) throw new Fault('not_found', 'There is no such path.')
  return parsed.data
}

function readQuery(operation: Operation, text: string): unknown {
  const query = parseQuery(text)
  refuseUnstorable(query)
  if (operation.query !== undefined) return validate(operation.query, query)
  const unknown = Object.keys(query)[0]
  if (unknown !== undefined)
    throw new Fault('unknown_parameter', `Unknown parameter: '${unknown.slice(0, 200)}'.`, {
      param: unknown.slice(0, 200),
    })
  return undefined
}

function readJson(operation: Operation, request: FastifyRequest): unknown {
  const body = request.body ?? (operation.bodyOptional === true ? {} : undefined)
  if ((request.headers['content-type'] ?? '').startsWith('multipart/')) {
    throw new Fault('unsupported_media_type', 'This operation reads application/json.')
  }
  if (operation.body === undefined) {
    const unknown = typeof body === 'object' && body !== null ? Object.keys(body)[0] : undefined
    if (unknown !== undefined)
      throw new Fault('unknown_parameter', `Unknown parameter: '${unknown.slice(0, 200)}'.`, {
        param: unknown.slice(0, 200),
      })
    return undefined
  }
  if (body === undefined) throw new Fault('invalid_json', 'This operation needs a JSON body.')
  return validate(operation.body as z.ZodType, body)
}

/** Runs the route; a create with an Idempotency-Key runs once and gives the same reply from then on. */
async function carryOut(route: Route, input: AnyInput, request: FastifyRequest, use: MountUse): Promise<unknown> {
  const key = route.operation.creates === true ? request.headers['idempotency-key'] : undefined
  if (typeof key !== 'string') return await route.handle({ ...input, commit: (decide) => use.db.tx(decide) })
  const body = { params: input.params, body: input.body, file: input.file?.sha256 }
  const begun = await use.idempotency.begin(route.operation, input.scope, key, body)
  if ('replay' in begun) {
    if (input.file !== null) await route.receiver?.discard(input.file)
    return begun.replay
  }
  const { claim } = begun
  try {
    return await route.handle({ ...input, commit: (decide) => commitOnce(use, claim, decide) })
  } catch (error) {
    await claim.release()
    throw error
  }
}

async function commitOnce<Reply>(use: MountUse, claim: Claim, decide: (tx: Tx) => Promise<Reply>): Promise<Reply> {
  return await use.db.tx(async (tx) => {
    const reply = await decide(tx)
    await claim.complete(tx, reply)
    return reply
  })
}
