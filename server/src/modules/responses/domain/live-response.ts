import type { OutputItem, StoredItem } from '@switchyard/contracts/responses/items.ts'
import type { ResponseError, Usage } from '@switchyard/contracts/responses/response.ts'
import type { Asked } from './asked.ts'
import type { Metering } from './metering.ts'
import type { IncompleteReason } from './response-view.ts'

/** A response while it is worked on: everything that the next move depends on. */
export interface LiveResponse {
  readonly id: string
  readonly projectId: string
  /** Null: it was accepted by a release that did not count. */
  readonly metering: Metering | null
  readonly asked: Asked
  /** What came before its output: history and input, oldest first. */
  readonly context: readonly StoredItem[]
  /** What it has said so far. Items of turns that were cut off are not in it. */
  readonly output: readonly OutputItem[]
  readonly usage: Usage
  /** Where the next item goes in the stream. */
  readonly nextOutputIndex: number
  readonly turns: number
}

export type Ending =
  | { readonly status: 'completed' | 'cancelled' }
  | { readonly status: 'incomplete'; readonly reason: IncompleteReason }
  | { readonly status: 'failed'; readonly error: ResponseError; readonly cause?: unknown }

/** How a foreground response ends whose process is gone. */
export const abandoned: Ending = {
  status: 'failed',
  error: { code: 'server_error', message: 'The server that worked on this response went away.' },
}

/** What one move added. */
export interface Moved {
  readonly items: readonly OutputItem[]
  readonly usage: Usage
  readonly nextOutputIndex: number
  /** How the response ends with it; null when it goes on. */
  readonly ending: Ending | null
}

export const noUsage: Usage = {
  input_tokens: 0,
  input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
  output_tokens: 0,
  output_tokens_details: { reasoning_tokens: 0 },
  total_tokens: 0,
}

export function addUsage(a: Usage, b: Usage): Usage {
  return {
    input_tokens: a.input_tokens + b.input_tokens,
    input_tokens_details: {
      cached_tokens: a.input_tokens_details.cached_tokens + b.input_tokens_details.cached_tokens,
      cache_write_tokens: a.input_tokens_details.cache_write_tokens + b.input_tokens_details.cache_write_tokens,
    },
    output_tokens: a.output_tokens + b.output_tokens,
    output_tokens_details: {
      reasoning_tokens: a.output_tokens_details.reasoning_tokens + b.output_tokens_details.reasoning_tokens,
    },
    total_tokens: a.total_tokens + b.total_tokens,
  }
}

export function after(live: LiveResponse, moved: Moved): LiveResponse {
  return {
    ...live,
    output: [...live.output, ...moved.items],
    usage: addUsage(live.usage, moved.usage),
    nextOutputIndex: moved.nextOutputIndex,
    turns: live.turns + 1,
  }
}
