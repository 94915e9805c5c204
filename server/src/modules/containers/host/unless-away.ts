import { EngineAway } from '#platform/docker/engine-api.ts'
import { Fault } from '#platform/errors/fault.ts'

const retryAfterMs = 2_000

/** While the engine is away whoever asked its host waits for it, as for a host that is away. */
export async function unlessAway<Answer>(answer: Promise<Answer>): Promise<Answer> {
  try {
    return await answer
  } catch (error) {
    if (!(error instanceof EngineAway)) throw error
    const message = 'The host of the container does not reach its Docker engine now.'
    throw new Fault('server_overloaded', message, { retryAfterMs, cause: error })
  }
}
