import { ResponseCreateEvent, StreamId } from '@switchyard/contracts/responses/socket.ts'
import type { CreateResponse } from '@switchyard/contracts/responses/request.ts'
import { Fault } from '#platform/errors/fault.ts'
import { parseJsonBody } from '#platform/http/json-body.ts'
import { validate } from '#platform/http/validate.ts'

/** A frame as far as it must be known before its turn comes: whose lane it is, and what it wants. */
export interface Frame {
  readonly type: string
  readonly streamId: string | undefined
  readonly value: Readonly<Record<string, unknown>>
}

export function readFrame(data: Buffer, isBinary: boolean, bytesMax: number): Frame {
  if (isBinary) throw new Fault('invalid_json', 'Send each event as one text frame; binary frames are not read.')
  if (data.length > bytesMax) throw new Fault('request_too_large', `The event is larger than ${bytesMax} bytes.`)
  const value = parseJsonBody(data)
  if (value === undefined) throw new Fault('invalid_json', 'The event is empty: send one JSON object.')
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw new Fault('invalid_type', 'Send each event as one JSON object.')
  }
  const object = value as Record<string, unknown>
  const { type, stream_id: streamId } = object
  if (type === undefined) {
    throw new Fault('missing_required_parameter', "Missing required parameter: 'type'.", { param: 'type' })
  }
  if (typeof type !== 'string') throw new Fault('invalid_type', "Invalid 'type': expected string.", { param: 'type' })
  return { type, streamId: StreamId.safeParse(streamId).data, value: object }
}

export const noSuchEvent = () =>
  new Fault('invalid_value', "Invalid 'type': expected response.create or response.steer.", { param: 'type' })

export interface CreateEvent {
  readonly body: CreateResponse
  readonly generate: boolean
}

/** Reads a `response.create` by the contract of the HTTP call. */
export function readCreate(value: unknown): CreateEvent {
  const { type: _type, stream_id: _lane, generate, ...body } = validate(ResponseCreateEvent, value)
  if (body.background === true) {
    throw new Fault('unsupported_value', 'A background response is created over HTTP, and not over a socket.', {
      param: 'background',
    })
  }
  if (body.stream === false) {
    throw new Fault('unsupported_value', 'A socket always streams: leave stream out, or set it to true.', {
      param: 'stream',
    })
  }
  return { body, generate: generate !== false }
}
