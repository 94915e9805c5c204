import type { KeyId } from '@switchyard/contracts/ids.ts'
import type { Db } from '#platform/db/db.ts'
import { Gathered } from '#platform/db/gathered.ts'
import type { Authenticate, Principal, Scope } from '#platform/http/principal.ts'
import { assert } from '#platform/std/assert.ts'
import { hashKeyText, isKeyText } from '../domain/key-text.ts'
import type { KnownScopes } from '../domain/scopes.ts'
import { findKeyInForceById, findKeysInForce, type KeyInForce } from '../store/authentication.ts'
import type { OrgsTables } from '../store/tables.ts'

export interface AuthenticateUse {
  readonly db: Db<OrgsTables>
  readonly scopes: KnownScopes
  readonly noteUse: (id: KeyId) => void
}

function scopeOf(key: KeyInForce): Scope {
  const holder = { keyId: key.id, orgId: key.org_id }
  switch (key.kind) {
    case 'admin':
      return { kind: 'admin_key', ...holder }
    case 'ads':
      assert(key.ad_account_id !== null, 'an ads key has an ad account')
      return { kind: 'ads_key', ...holder, adAccountId: key.ad_account_id }
    case 'project':
    case 'service_account':
      assert(key.project_id !== null, 'a project key has a project')
      return { kind: 'project_key', ...holder, projectId: key.project_id }
  }
}

const keysMax = 100
const lookupsMax = 2

/**
 * Asked by every request. Nothing is remembered between requests, so a revocation holds from its commit on. Unknown and
 * revoked keys take the same way: a lookup, sent after the request came, that finds nothing in force.
 */
export function createAuthenticate(use: AuthenticateUse): Authenticate {
  const lookups = new Gathered((hashes: readonly Buffer[]) => findKeysInForce(use.db, hashes), {
    batchMax: keysMax,
    atOnceMax: lookupsMax,
  })
  return async (token): Promise<Principal | null> => {
    if (!isKeyText(token)) return null
    return principalFor(use, await lookups.ask(hashKeyText(token)))
  }
}

/** Whoever signed in with a key acts for as long as it is in force. */
export function createPrincipalOf(use: AuthenticateUse): (id: KeyId) => Promise<Principal | null> {
  return async (id) => principalFor(use, await findKeyInForceById(use.db, id))
}

function principalFor(use: AuthenticateUse, key: KeyInForce | null): Principal | null {
  if (key === null) return null
  use.noteUse(key.id)
  const scope = scopeOf(key)
  return { scope, granted: use.scopes.granted(scope.kind, key.scopes) }
}
