import { bounded } from '../std/clock.ts'
import { scrubText } from '../telemetry/scrub-line.ts'
import type { Part, Readiness } from './module.ts'

export interface ReadinessReport {
  ok: boolean
  /** Where the program stands: only a running one takes work. */
  state: 'starting' | 'running' | 'draining' | 'stopped'
  parts: Record<string, Readiness>
}

/** Asks every part at once. A part that does not answer in time, or fails to, is not ready. */
export async function askParts(parts: readonly Part[], boundMs: number): Promise<Record<string, Readiness>> {
  const answers = await Promise.all(parts.map(async (part) => [part.name, await askPart(part, boundMs)] as const))
  return Object.fromEntries(answers)
}

async function askPart(part: Part, boundMs: number): Promise<Readiness> {
  if (part.ready === undefined) return { ok: true }
  try {
    return await bounded(boundMs, () => part.ready?.() ?? { ok: true })
  } catch (error) {
    return { ok: false, detail: scrubText(error instanceof Error ? error.message : String(error)) }
  }
}
