/** One small round of each proof of this folder, on one fleet: what CI runs. */
import { Checks } from '../load/checks.ts'
import { proveBackground } from './background.chaos.ts'
import { patientSettings, proveBounds } from './clients.bounds.ts'
import { Fleet } from './fleet.ts'
import { proveResume } from './resume.chaos.ts'

async function main(): Promise<number> {
  const checks = new Checks()
  const seed = Date.now() % 1_000_000
  const fleet = await Fleet.start({ api: 2, worker: 2, apart: true, inspected: true, settings: patientSettings })
  try {
    await proveBackground(fleet, checks, { responses: 12, rounds: 1, foreground: 6, seed })
    await proveResume(fleet, checks, { streams: 8, seed })
    await proveBounds(fleet, checks, { clients: 200, slow: 4, waitCut: false })
  } finally {
    await fleet.stop()
  }
  return checks.finish()
}

if (import.meta.main) process.exitCode = await main()
