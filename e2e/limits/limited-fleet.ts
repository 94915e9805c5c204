import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'iovalkey'
import { stringify } from 'yaml'
import { Fleet } from '../responses/fleet.ts'
import { makeOrganizations, type LimitedOrganization } from './limited-organization.ts'

export interface LimitNumbers {
  readonly requestsPerMinute: number
  readonly tokensPerMinute: number
}

export interface LimitedFleetOptions extends LimitNumbers {
  readonly nodes: number
  readonly settlesTokens: boolean
}

const tier = 'tier_1'
/** Far beyond what is used: they are asked with every request, and never bind. */
const dayShare = 1_000
const monthlyDollars = 1_000_000
const minuteMs = 60_000
const dayMs = 86_400_000

export const isOfMinute = (metric: string): boolean => metric.endsWith('PM')

/** How long a bucket of a metric takes to empty itself; 0: never. */
export const periodOf = (metric: string): number => (isOfMinute(metric) ? minuteMs : metric.endsWith('PD') ? dayMs : 0)

/** Processes that limit the same organisations, which are made one after the other with the same limits. */
export class LimitedFleet {
  readonly fleet: Fleet
  readonly #file: string
  readonly #valkey: Redis

  private constructor(fleet: Fleet, file: string) {
    this.fleet = fleet
    this.#file = file
    this.#valkey = new Redis(fleet.stack.env['SWITCHYARD_VALKEY_URL'] ?? '')
  }

  static async start(options: LimitedFleetOptions): Promise<LimitedFleet> {
    const { requestsPerMinute, tokensPerMinute } = options
    const folder = mkdtempSync(join(tmpdir(), 'switchyard-limits-'))
    const file = join(folder, 'limits.yaml')
    const limits = {
      requests_per_minute: requestsPerMinute,
      requests_per_day: dayShare * requestsPerMinute,
      tokens_per_minute: tokensPerMinute,
      tokens_per_day: dayShare * tokensPerMinute,
    }
    writeFileSync(file, stringify({ tiers: { [tier]: { monthly: monthlyDollars, limits } } }))
    const settings = {
      SWITCHYARD_LIMITS: file,
      SWITCHYARD_LIMITS_SETTLE_TOKENS: String(options.settlesTokens),
    }
    try {
      const fleet = await Fleet.start({ api: options.nodes, worker: 1, apart: options.nodes > 1, settings })
      return new LimitedFleet(fleet, file)
    } catch (error) {
      rmSync(folder, { recursive: true, force: true })
      throw error
    }
  }

  /** An organisation that nobody has asked anything for yet. */
  async newOrganization(): Promise<LimitedOrganization> {
    const [made] = await makeOrganizations(this.fleet.stack.env['SWITCHYARD_POSTGRES_URL'] ?? '', ['Limited'])
    if (made === undefined) throw new Error('no organisation was made')
    return made
  }

  /** Reservations that nobody has settled or released. */
  async open(orgId: string): Promise<string[]> {
    const fields = await this.#valkey.hkeys(hashOf(orgId))
    return fields.filter((field) => field.startsWith('o:')).map((field) => field.slice(2))
  }

  /** How full a bucket was when it was last changed, and when that was; null: nobody has asked it. */
  async bucket(orgId: string, field: string): Promise<{ level: number; at: number } | null> {
    const packed = await this.#valkey.hgetBuffer(hashOf(orgId), field)
    return packed === null ? null : { level: packed.readDoubleLE(0), at: packed.readDoubleLE(8) }
  }

  async stop(): Promise<void> {
    this.#valkey.disconnect()
    await this.fleet.stop()
    rmSync(join(this.#file, '..'), { recursive: true, force: true })
  }
}

const hashOf = (orgId: string) => `switchyardlimits:{${orgId}}`
