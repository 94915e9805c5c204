import type { MultipartBody, Operation } from '@switchyard/contracts/operation.ts'
import type { FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { Fault } from '#platform/errors/fault.ts'
import { assert } from '#platform/std/assert.ts'
import type { Passage } from './gate.ts'
import { isMultipart, readMultipart } from './multipart.ts'
import type { Scope } from './principal.ts'
import { readQuery } from './query.ts'
import type { AnyInput, IncomingFile, RequestFacts, Route } from './route.ts'
import { isStorable } from '#platform/std/storable-text.ts'
import { noSuchPath } from './unknown-path.ts'
import { unknownParameter, validate } from './validate.ts'

export interface ReadInput extends AnyInput {
  /** As the client named the streamed part; it belongs to what an Idempotency-Key stands for. */
  readonly fileName: string | null
}

export function multipartOf(operation: Operation): MultipartBody | null {
  return operation.body !== undefined && 'kind' in operation.body ? operation.body : null
}

/** Everything a request says, as its operation declares it. A promise only where a body has to be streamed. */
export function readInput(
  route: Route,
  request: FastifyRequest,
  scope: Scope,
  facts: RequestFacts,
  passage: Passage | null,
): ReadInput | Promise<ReadInput> {
  const { operation } = route
  const params = readParams(operation, request.params as Record<string, string>)
  const query = readQuery(operation, request.query as string)
  const input = { scope, params, query, request: facts, passage }
  const multipart = multipartOf(operation)
  if (multipart !== null) {
    if (multipart.json === undefined || isMultipart(request.headers['content-type'])) {
      return readUpload(route, multipart, request, input)
    }
    return { ...input, body: validate(multipart.json, request.body ?? {}), file: null, fileName: null }
  }
  return { ...input, body: readJson(operation, request), file: null, fileName: null }
}

async function readUpload(
  route: Route,
  multipart: MultipartBody,
  request: FastifyRequest,
  input: Pick<AnyInput, 'scope' | 'params' | 'query' | 'request' | 'passage'>,
): Promise<ReadInput> {
  const { receiver } = route
  assert(receiver !== null, 'a multipart operation is bound with uploadRoute')
  let fileName: string | null = null
  const receive = (file: IncomingFile) => {
    fileName = file.filename
    return receiver.receive(file, input)
  }
  const { fields, received } = await readMultipart(request.raw, multipart, receive, (part) => receiver.discard(part))
  assert(received.length === 1 || receiver.join !== undefined, 'a receiver of several parts joins them')
  const file = receiver.join?.(received) ?? received[0]
  try {
    return { ...input, body: validate(multipart.fields, fields), file, fileName }
  } catch (error) {
    await receiver.discard(file)
    throw error
  }
}

function readParams(operation: Operation, params: Record<string, string>): unknown {
  // An id that is empty or cannot be stored cannot exist, and is answered as one that does not.
  for (const name in params) if (params[name] === '' || !isStorable(params[name] ?? '')) throw noSuchPath()
  if (operation.params === undefined) return undefined
  const parsed = operation.params.safeParse(params)
  if (!parsed.success) throw noSuchPath()
  return parsed.data
}

function readJson(operation: Operation, request: FastifyRequest): unknown {
  const { body } = request
  if (operation.body === undefined) {
    refuseBody(body)
    return undefined
  }
  if (body === undefined && operation.bodyOptional !== true) {
    throw new Fault('invalid_json', 'This operation needs a JSON body.')
  }
  return validate(operation.body as z.ZodType, body === undefined ? {} : body)
}

/** An operation without a body takes none, or `{}`. */
function refuseBody(body: unknown): void {
  if (body === undefined) return
  if (body === null || typeof body !== 'object' || Array.isArray(body)) {
    throw new Fault('invalid_type', 'Invalid request: this operation takes no body.')
  }
  const [unknown] = Object.keys(body)
  if (unknown !== undefined) throw unknownParameter(unknown)
}
