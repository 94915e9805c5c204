import { Redis } from 'iovalkey'
import type { Fleet } from '../responses/fleet.ts'

export interface UsageRow {
  readonly requestId: string
  readonly turn: number
  readonly outcome: 'completed' | 'interrupted'
  readonly input: number
  readonly output: number
  readonly nanos: number
  readonly at: number
}

export interface DecisionRow {
  readonly requestId: string
  readonly kind: 'admitted' | 'refused' | 'settled' | 'released'
  readonly at: number
  /** Null: not of a settlement. */
  readonly reservation: string | null
  readonly bySweep: boolean
  /** What the token limit of a minute was charged. */
  readonly charged: number | null
}

const hashOf = (orgId: string) => `switchyardlimits:{${orgId}}`

/** What the server has written down, read behind its back. */
export class Recorded {
  readonly #fleet: Fleet
  readonly #valkey: Redis

  constructor(fleet: Fleet) {
    this.#fleet = fleet
    this.#valkey = new Redis(fleet.stack.env['SWITCHYARD_VALKEY_URL'] ?? '')
  }

  close(): void {
    this.#valkey.disconnect()
  }

  get #orgId(): string {
    return this.#fleet.stack.seeded.orgId
  }

  async usage(): Promise<UsageRow[]> {
    const { rows } = await this.#fleet.db.query<UsageRow>(
      `select request_id as "requestId", turn, outcome, input_tokens::float8 as input, output_tokens::float8 as output,
         cost_nanos::float8 as nanos, extract(epoch from at)::float8 * 1000 as at
       from limits.usage where org_id = $1 order by id`,
      [this.#orgId],
    )
    return rows
  }

  async decisions(): Promise<DecisionRow[]> {
    const { rows } = await this.#fleet.db.query<DecisionRow>(
      `select request_id as "requestId", kind, extract(epoch from at)::float8 * 1000 as at,
         detail ->> 'reservation' as reservation, coalesce(detail ->> 'by' = 'sweep', false) as "bySweep",
         coalesce((detail ->> 'tokens_charged')::float8,
           (select (held ->> 'cost')::float8 from json_array_elements(detail -> 'reserved') as held
            where held ->> 'field' like 'TPM:%')) as charged
       from limits.decision where org_id = $1 order by id`,
      [this.#orgId],
    )
    return rows
  }

  /** Background responses of these ids that are not completed. */
  async unfinished(ids: readonly string[]): Promise<string[]> {
    const { rows } = await this.#fleet.db.query<{ told: string }>(
      `select id || ' ' || coalesce(ended_status, 'not ended') as told from responses.response
       where id = any($1::text[]) and ended_status is distinct from 'completed'`,
      [ids],
    )
    return rows.map(({ told }) => told)
  }

  async running(): Promise<number> {
    const { rows } = await this.#fleet.db.query<{ count: number }>(
      'select count(*)::int as count from responses.running',
    )
    return rows[0]?.count ?? 0
  }

  /** When the last response ended. */
  async lastEndAt(): Promise<number> {
    const { rows } = await this.#fleet.db.query<{ at: number }>(
      'select extract(epoch from max(ended_at))::float8 * 1000 as at from responses.response',
    )
    return rows[0]?.at ?? 0
  }

  /** Reservations that nobody has settled or released. */
  async open(): Promise<string[]> {
    const fields = await this.#valkey.hkeys(hashOf(this.#orgId))
    return fields.filter((field) => field.startsWith('o:')).map((field) => field.slice(2))
  }

  /** This month's spend of the organisation as the limiter knows it, in billionths of a US dollar. */
  async spendLevel(): Promise<number> {
    const month = new Date().toISOString().slice(0, 7)
    const packed = await this.#valkey.hgetBuffer(hashOf(this.#orgId), `spend:${month}`)
    return packed?.readDoubleLE(0) ?? 0
  }
}
