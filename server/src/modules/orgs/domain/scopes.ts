import type { Auth, Operation } from '@switchyard/contracts/operation.ts'
import { Fault } from '#platform/errors/fault.ts'

/** Reading everything and nothing else, the one name that stands for many. */
const allRead = 'all.read'
const sdkPrefix = 'api.'

/** What the keys of each kind can be restricted to, as the operations say it. */
export interface KnownScopes {
  /** Refuses a name that no operation of this kind of key asks for. */
  check(auth: Auth, scopes: readonly string[]): void
  /** What a stored restriction opens; null opens all. */
  granted(auth: Auth, stored: readonly string[] | null): ReadonlySet<string> | null
  /** Whether `inner` opens nothing that `outer` does not. */
  within(auth: Auth, inner: readonly string[] | null, outer: readonly string[] | null): boolean
}

/** SDKs write `api.files.read` where our operations say `files.read`. */
function ourName(scope: string): string {
  return scope.startsWith(sdkPrefix) ? scope.slice(sdkPrefix.length) : scope
}

export function knownScopes(operations: readonly Operation[]): KnownScopes {
  const byAuth = new Map<Auth, Set<string>>()
  for (const { auth, scope } of operations) byAuth.set(auth, (byAuth.get(auth) ?? new Set()).add(scope))
  const namesOf = (auth: Auth) => byAuth.get(auth) ?? new Set<string>()

  function granted(auth: Auth, stored: readonly string[] | null): ReadonlySet<string> | null {
    if (stored === null) return null
    const names = stored.map(ourName)
    if (!names.includes(allRead)) return new Set(names)
    return new Set([...names, ...[...namesOf(auth)].filter((name) => name.endsWith('.read'))])
  }

  return {
    check(auth, scopes) {
      const at = scopes.findIndex((scope) => ourName(scope) !== allRead && !namesOf(auth).has(ourName(scope)))
      if (at >= 0) throw new Fault('invalid_value', 'There is no such scope for this key.', { param: `scopes[${at}]` })
    },
    granted,
    within(auth, inner, outer) {
      const may = granted(auth, outer)
      if (may === null) return true
      return granted(auth, inner)?.isSubsetOf(may) ?? false
    },
  }
}

/** An empty list and no list both mean "no restriction"; names given twice count once. */
export function storedScopes(given: readonly string[] | undefined): string[] | null {
  return given === undefined || given.length === 0 ? null : [...new Set(given)]
}
