import { EventStream, type ServerEvent } from '#platform/http/sse.ts'
import { obfuscated } from '../domain/number-events.ts'
import type { EventFeed } from '../feed/event-feed.ts'

export interface FeedStreamUses {
  readonly feed: EventFeed
}

/** The stored events of a background response as a reply, and then those to come. */
export function feedStream(
  { feed }: FeedStreamUses,
  id: string,
  startingAfter: number,
  signal: AbortSignal,
  obfuscate = false,
): EventStream {
  return new EventStream(
    (async function* told(): AsyncGenerator<ServerEvent> {
      for await (const { type, json } of feed.read(id, startingAfter, signal)) {
        yield { event: type, json: obfuscate ? obfuscated(type, json) : json }
      }
    })(),
  )
}
