import type { Money } from '@switchyard/contracts/organization/money.ts'

const nanosPerDollar = 1_000_000_000

export const centsView = (cents: number): Money => ({ value: cents / 100, currency: 'usd' })
export const nanosView = (nanos: number): Money => ({ value: nanos / nanosPerDollar, currency: 'usd' })
