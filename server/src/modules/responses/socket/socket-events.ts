import {
  ResponseSteerEvent,
  type SocketErrorEvent,
  type SocketEvent,
  type SteerFailedEvent,
} from '@switchyard/contracts/responses/socket.ts'
import { Fault } from '#platform/errors/fault.ts'
import type { FaultReply } from '#platform/http/fault-reply.ts'
import { validate } from '#platform/http/validate.ts'

export function inLane<Event extends SocketEvent>(event: Event, streamId: string | undefined): Event {
  return streamId === undefined ? event : { ...event, stream_id: streamId }
}

/** What an HTTP reply would have said, as an event. */
export function errorEvent({ status, headers, body }: FaultReply): SocketErrorEvent {
  const { type, code, message, param } = body.error
  const more = Object.keys(headers).length === 0 ? {} : { headers }
  return { type: 'error', status, error: { type, code, message, param, ...more } }
}

/** Nothing is ever steered: what was sent goes back. */
export function steerFailed(value: Readonly<Record<string, unknown>>): SteerFailedEvent {
  try {
    const { input, previous_response_id } = validate(ResponseSteerEvent, value)
    const message = 'This server does not steer responses: send the input with the next response.create.'
    return failed('steering_not_supported', message, { input, previous_response_id })
  } catch (error) {
    if (!(error instanceof Fault)) throw error
    const { previous_response_id: given } = value
    return failed('invalid_input', error.message, {
      input: [],
      previous_response_id: typeof given === 'string' ? given : '',
    })
  }
}

function failed(
  code: SteerFailedEvent['error']['code'],
  message: string,
  steer: SteerFailedEvent['steer'],
): SteerFailedEvent {
  const error = { type: 'invalid_request_error' as const, code, message }
  return { type: 'response.steer.failed', sequence_number: 0, error, steer }
}
