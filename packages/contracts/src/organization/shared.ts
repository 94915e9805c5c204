import { z } from 'zod'

export const timestamp = z.int().nonnegative()

export const nameMax = 200
/** Ten years. A key that should live longer has no expiry. */
export const keyLifetimeSecondsMax = 10 * 365 * 86_400
/** Thirty days: a rotation that takes longer is two keys. */
export const rotationOverlapSecondsMax = 30 * 86_400
const scopeTextMax = 100
export const keyScopesMax = 100
const emailMax = 254

export const Name = z.string().min(1).max(nameMax)
export const Email = z.email().max(emailMax).toLowerCase()

export const OrganizationRole = z.enum(['owner', 'reader'])
export const ProjectRole = z.enum(['owner', 'member'])

/** An empty list means: no restriction. */
export const KeyScopes = z.array(z.string().min(1).max(scopeTextMax)).max(keyScopesMax)
export const KeyLifetimeSeconds = z.int().min(1).max(keyLifetimeSecondsMax)

/** The old key goes on for `overlap_seconds`; with 0, the default, it ends at once. */
export const RotateKey = z.strictObject({
  overlap_seconds: z.int().min(0).max(rotationOverlapSecondsMax).default(0),
})

/** What a rotation says about the key that was replaced. */
export const ReplacedKey = z.strictObject({ id: z.string(), expires_at: timestamp })

/** `true` or `false`, as SDKs write booleans in a query. */
export const QueryFlag = z
  .enum(['true', 'false'])
  .default('false')
  .transform((text) => text === 'true')
