import { Fault } from '#platform/errors/fault.ts'
import type { KnownScopes } from '../domain/scopes.ts'

/** A restricted admin key cannot hand itself, or anybody, more than it has. */
export function refuseWider(scopes: KnownScopes, caller: string[] | null, wanted: string[] | null): void {
  if (scopes.within('admin_key', wanted, caller)) return
  throw new Fault('insufficient_permissions', 'A restricted key can only create or rotate keys within its own scopes.')
}
