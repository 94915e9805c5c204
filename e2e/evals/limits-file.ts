import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'

const tier = 'tier_1'
/** Far beyond what is used: they are asked with every call, and never bind. */
const monthlyDollars = 1_000_000
const neverBinds = 1_000_000_000

/** A limits file whose one limit that matters is changed between runs. Servers read it when they start. */
export class LimitsFile {
  readonly path = join(mkdtempSync(join(tmpdir(), 'switchyard-limits-')), 'limits.yaml')

  constructor() {
    this.write(neverBinds)
  }

  write(tokensPerMinute: number): void {
    const limits = {
      requests_per_minute: neverBinds,
      requests_per_day: neverBinds,
      tokens_per_minute: tokensPerMinute,
      tokens_per_day: 1_000 * neverBinds,
    }
    writeFileSync(this.path, stringify({ tiers: { [tier]: { monthly: monthlyDollars, limits } } }))
  }

  remove(): void {
    rmSync(join(this.path, '..'), { recursive: true, force: true })
  }
}
