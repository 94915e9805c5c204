/** What came of a connection or, where the proxy sees requests, of one request. Never a value, a path or a header. */
export type Receipt = {
  time: string
  containerId: string
  host: string
  port: number
  /** Towards the container. */
  bytesIn: number
  /** From the container. */
  bytesOut: number
  verdict: 'allowed' | 'refused' | 'injected' | 'failed'
  reason: string | null
}

export type ReceiptPage = { next: number; receipts: Receipt[] }

export const RECEIPTS_MAX = 10_000
const PAGE_MAX = 1_000

/** The last receipts, numbered without gaps. A reader that was away for too long goes on at the oldest that is left. */
export function createReceipts() {
  const kept: Receipt[] = []
  let first = 0

  return {
    add(receipt: Receipt): void {
      kept.push(receipt)
      if (kept.length < RECEIPTS_MAX * 2) return
      // Dropped in halves, so that a receipt costs the same whether the ring is full or not.
      first += kept.length - RECEIPTS_MAX
      kept.splice(0, kept.length - RECEIPTS_MAX)
    },

    /** `after` is the `next` of the page before, or 0. */
    page(after: number): ReceiptPage {
      const oldest = first + Math.max(0, kept.length - RECEIPTS_MAX)
      // A number from the time before a restart of this process is larger than any of ours.
      const from = after > first + kept.length ? oldest : Math.max(after, oldest)
      const receipts = kept.slice(from - first, from - first + PAGE_MAX)
      return { next: from + receipts.length, receipts }
    },
  }
}

export type Receipts = ReturnType<typeof createReceipts>
