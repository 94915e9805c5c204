import type { TestContext } from 'node:test'
import type { Part } from '../../lifecycle/module.ts'

/** Starts parts in order; they end in reverse when the test does, or when the returned function is called. */
export async function startParts(t: TestContext, parts: readonly Part[]): Promise<() => Promise<void>> {
  let ended = false
  const end = async () => {
    if (ended) return
    ended = true
    for (const part of parts.toReversed()) await part.drain?.()
    for (const part of parts.toReversed()) await part.stop?.()
  }
  t.after(end)
  for (const part of parts) await part.start?.()
  return end
}
