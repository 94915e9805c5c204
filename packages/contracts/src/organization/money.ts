import { z } from 'zod'

/** An amount in whole units of the currency, as usage and costs show it. */
export const Money = z.strictObject({ value: z.number().nonnegative(), currency: z.literal('usd') })
export type Money = z.infer<typeof Money>
