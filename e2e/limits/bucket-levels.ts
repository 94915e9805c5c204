import { Redis } from 'iovalkey'

/** What Valkey holds of an organisation's limits, read behind the server's back. */
export class BucketLevels {
  readonly #valkey: Redis
  readonly #key: string

  constructor(url: string, orgId: string) {
    this.#valkey = new Redis(url, { maxRetriesPerRequest: 1, commandTimeout: 1_000 })
    // Valkey is killed under it.
    this.#valkey.on('error', () => undefined)
    this.#key = `switchyardlimits:{${orgId}}`
  }

  close(): void {
    this.#valkey.disconnect()
  }

  async level(field: string): Promise<number> {
    const packed = await this.#valkey.hgetBuffer(this.#key, field)
    return packed?.readDoubleLE(0) ?? 0
  }

  /** Reservations that nobody has settled or released. */
  async open(): Promise<number> {
    return (await this.#valkey.hkeys(this.#key)).filter((field) => field.startsWith('o:')).length
  }
}
