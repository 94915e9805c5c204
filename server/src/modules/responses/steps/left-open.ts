import { Fault } from '#platform/errors/fault.ts'
import { abandoned } from '../domain/live-response.ts'
import { stopResponse, type StopUses } from './stop-response.ts'

/** More than this many are left to the sweep that follows the end of this process. */
const leftMax = 10_000

/**
 * Foreground responses of this process of which the store may think that they still run: it was away when they began or
 * ended. Nobody else can tell, because this process lives; so it ends them itself, once the store is back.
 */
export class LeftOpen {
  readonly #left = new Map<string, string>()

  note(id: string, projectId: string): void {
    if (this.#left.size < leftMax) this.#left.set(id, projectId)
  }

  /** Notes the response when the work fails. */
  async guard<Result>(id: string, projectId: string, work: Promise<Result>): Promise<Result> {
    try {
      return await work
    } catch (error) {
      // A fault of ours is an answer: the store was there.
      if (!(error instanceof Fault)) this.note(id, projectId)
      throw error
    }
  }

  /** Ends what is left, unless it has ended. What cannot be ended now stays for the next time. */
  async settle(use: StopUses): Promise<void> {
    for (const [id, projectId] of this.#left) {
      await stopResponse(use, projectId, id, abandoned)
      this.#left.delete(id)
    }
  }
}
