import type { CreateResponse } from '@switchyard/contracts/responses/request.ts'
import { askedOf, type Asked } from '../domain/asked.ts'

/** A request as it is kept, with everything at its default but what is given. */
export function testAsked(body: CreateResponse = {}, more: Partial<Asked> = {}): Asked {
  const model = { id: 'house-2026-11-01', contextWindow: 10_000 }
  return {
    ...askedOf({ model: 'house', ...body }, model),
    shellPlace: { type: 'local' },
    shellAbout: null,
    compactNow: false,
    ...more,
  }
}
