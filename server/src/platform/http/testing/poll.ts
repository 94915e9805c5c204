import assert from 'node:assert/strict'

const turnMs = 10
const turnsMax = 1_000

/** Waits for a condition, within a bound. */
export async function until(what: string, satisfied: () => boolean | Promise<boolean>): Promise<void> {
  for (let turn = 0; turn < turnsMax; turn += 1) {
    if (await satisfied()) return
    await new Promise((resolve) => setTimeout(resolve, turnMs))
  }
  assert.fail(`waited too long for ${what}`)
}
