import type { SecureContext } from 'node:tls'
import type { Dial } from './dial.ts'
import type { Reason } from './reasons.ts'
import type { Receipt } from './receipts.ts'
import type { Secret } from './secrets.ts'
import type { Visit } from './visit.ts'

/** What the code behind a listener may ask about the one container that the listener stands for. */
export type Passage = {
  /** Asked anew for every connection and request: the organisation's list may have changed. */
  refusalFor(host: string, port: number): Reason | null
  /** Secrets of all domains; which of them apply is decided per host. */
  secrets(): readonly Secret[]
  plainHttpSecrets(): boolean
  leafFor(host: string): Promise<SecureContext>
  dial: Dial
  receipt(receipt: Omit<Receipt, 'time' | 'containerId'>): void
  visits: Set<Visit>
}
