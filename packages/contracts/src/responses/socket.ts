import { z } from 'zod'
import { ItemText } from './parts.ts'
import { CreateResponse, Input } from './request.ts'
import type { StreamEvent } from './stream.ts'

/** Names a lane of a socket. */
export const StreamId = z.string().regex(/^[A-Za-z0-9_.-]{1,256}$/, 'expected 1 to 256 of A-Z a-z 0-9 _ . -')

/** What a client sends to let a model answer: the body of the HTTP call, flat, with what only a socket has. */
export const ResponseCreateEvent = CreateResponse.extend({
  type: z.literal('response.create'),
  /** False prepares the state and lets no model speak. */
  generate: z.boolean().nullish(),
  stream_id: StreamId.optional(),
})

export const ResponseSteerEvent = z.strictObject({
  type: z.literal('response.steer'),
  previous_response_id: ItemText,
  input: Input,
  stream_id: StreamId.optional(),
})
export type ResponseSteerEvent = z.infer<typeof ResponseSteerEvent>

/** A frame that could not be carried out. Of a response that had begun, its own last event tells instead. */
export interface SocketErrorEvent {
  type: 'error'
  status: number
  error: {
    type: string
    code: string | null
    message: string
    param: string | null
    headers?: Readonly<Record<string, string>>
  }
}

export interface SteerFailedEvent {
  type: 'response.steer.failed'
  sequence_number: number
  error: { type: 'invalid_request_error'; code: 'steering_not_supported' | 'invalid_input'; message: string }
  steer: Pick<ResponseSteerEvent, 'input' | 'previous_response_id'>
}

export type SocketEvent = (StreamEvent | SocketErrorEvent | SteerFailedEvent) & { stream_id?: string }
