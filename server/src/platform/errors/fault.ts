import { faults, type ErrorBody, type FaultCode } from '@switchyard/contracts/errors.ts'

export interface FaultDetail {
  /** Path of the field at fault, as the caller wrote it. */
  readonly param?: string | undefined
  /** Kept for the log; never shown. */
  readonly cause?: unknown
  readonly retryAfterMs?: number
  readonly headers?: Readonly<Record<string, string>>
}

/** What the caller may know about a failure. Anything that is not a Fault becomes a bare 500. */
export class Fault extends Error {
  readonly code: FaultCode
  readonly param: string | null
  readonly retryAfterMs: number | undefined
  readonly headers: Readonly<Record<string, string>>

  constructor(code: FaultCode, message: string, detail: FaultDetail = {}) {
    super(message, { cause: detail.cause })
    this.name = 'Fault'
    this.code = code
    this.param = detail.param ?? null
    this.retryAfterMs = detail.retryAfterMs
    this.headers = detail.headers ?? {}
  }

  get status(): number {
    return faults[this.code].status
  }

  body(): ErrorBody {
    const { type, wireCode } = faults[this.code] as { type: string; wireCode?: string | null }
    return {
      error: { message: this.message, type, param: this.param, code: wireCode === undefined ? this.code : wireCode },
    }
  }
}
