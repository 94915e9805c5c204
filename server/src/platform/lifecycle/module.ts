/** What one part says about itself when asked whether work may be sent here. */
export type Readiness = { ok: true; detail?: string } | { ok: false; detail: string } | { ok: true; degraded: string }

/** Something with a lifetime: a pool, a listener, a poller. Parts start in order and end in reverse. */
export interface Part {
  name: string
  /** Resolves once the part can do its work. */
  start?(): Promise<void>
  /** Stops taking new work and finishes what is in hand. */
  drain?(): Promise<void>
  /** Lets go of everything. Called after drain, whether or not drain came to its end. */
  stop?(): Promise<void>
  ready?(): Promise<Readiness>
}
