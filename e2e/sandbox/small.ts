/** One small round of both proofs of this folder at once, on one fleet: what CI runs. Either waits for a minute to pass. */
import { Checks } from '../load/checks.ts'
import { proveDurable, proveNothingLeft } from './durable.chaos.ts'
import { proveExpiry } from './expiry.chaos.ts'
import { SandboxFleet } from './sandbox-fleet.ts'

async function main(): Promise<number> {
  const checks = new Checks()
  const fleet = await SandboxFleet.start({ runtime: 'runc', hosts: 2 })
  try {
    const made = Promise.withResolvers<void>()
    const expiry = proveExpiry(fleet, checks, { containers: 24, onMade: made.resolve })
    // A failure before that is not to be waited for.
    await Promise.race([made.promise, expiry])
    const durable = proveDurable(fleet, checks, { responses: 12, rounds: 1, seed: Date.now() % 1_000_000 })
    const [lost] = await Promise.all([durable, expiry])
    await proveNothingLeft(fleet, checks, lost)
  } finally {
    await fleet.stop()
  }
  return checks.finish()
}

if (import.meta.main) process.exitCode = await main()
