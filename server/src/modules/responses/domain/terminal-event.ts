import type { StreamEventBody } from '@switchyard/contracts/responses/stream.ts'
import { responseView, type ResponseState } from './response-view.ts'

const types = {
  completed: 'response.completed',
  incomplete: 'response.incomplete',
  // The SDK knows no event for it; this one is legal, and its response says what happened.
  cancelled: 'response.incomplete',
  failed: 'response.failed',
} as const

/** The last event of a response that has ended. */
export function terminalEventOf(state: ResponseState): StreamEventBody {
  const { status } = state
  const type = status === 'queued' || status === 'in_progress' ? 'response.failed' : types[status]
  return { type, response: responseView(state) }
}
