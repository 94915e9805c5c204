/** Runs over few rows, against a bare loop and under a token limit, on one fleet: what CI runs. */
import { Checks } from '../load/checks.ts'
import { LimitsFile } from './limits-file.ts'
import { proveRows, ratioTarget } from './rows.load.ts'
import { withRowsFleet } from './rows-fleet.ts'
import { proveLimit } from './tpm.load.ts'

const latencyMs = 250
/** Neighbours share the machine, and a short run is mostly its beginning and its end. */
const ciSlack = 2

async function main(): Promise<number> {
  const checks = new Checks()
  const file = new LimitsFile()
  try {
    await withRowsFleet({ SWITCHYARD_LIMITS: file.path }, async (rows) => {
      await proveRows(rows, checks, { rows: 2_000, rounds: 5, latencyMs, ratioMin: ratioTarget / ciSlack })
      await proveLimit(rows, file, checks, { rows: 1_500, seconds: 20, latencyMs })
    })
  } finally {
    file.remove()
  }
  return checks.finish()
}

if (import.meta.main) process.exitCode = await main()
