import { valkeyPart } from '#platform/cache/valkey.ts'
import type { Part } from '#platform/lifecycle/module.ts'
import { clockPart } from '#platform/lifecycle/clock-part.ts'
import type { Wired } from '../wiring.ts'

/** What every role stands on. Stopped last, in reverse order. */
export function sharedParts({
  db,
  valkey,
  blobs,
  durable,
  outbound,
  mesh,
  orgs,
  webhooks,
  inference,
  limits,
  evals,
  tracing,
}: Wired): Part[] {
  return [
    { name: 'tracing', stop: () => tracing.stop() },
    {
      name: 'postgres',
      start: async () => void (await db.now()),
      stop: () => db.close(),
      ready: async () => {
        await db.now()
        return { ok: true }
      },
    },
    clockPart(async () => {
      const asked = Date.now()
      const there = await db.now()
      return there.getTime() - (asked + Date.now()) / 2
    }),
    valkeyPart(valkey),
    {
      name: 'blobs',
      stop: async () => blobs.close(),
      ready: async () => {
        await blobs.check()
        return { ok: true }
      },
    },
    durable.sender,
    { name: 'outbound', stop: () => outbound.close() },
    { name: 'mesh', stop: async () => mesh.close() },
    webhooks.sender,
    ...orgs.parts,
    ...inference.parts,
    ...limits.parts,
    ...evals.parts,
  ]
}
