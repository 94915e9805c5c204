/** Which domains containers of an organisation may ever reach; a request may only narrow it. */
export interface NetworkPolicy {
  readonly type: 'allowlist' | 'disabled'
  readonly allowed_domains: readonly string[]
  readonly updated_at: Date
}

export interface PolicyChange {
  readonly type?: 'allowlist' | 'disabled'
  readonly domains_added: readonly string[]
  readonly domains_removed: readonly string[]
}

/** What differs, for the audit log; null when nothing does. */
export function policyChange(
  before: Pick<NetworkPolicy, 'type' | 'allowed_domains'>,
  after: Pick<NetworkPolicy, 'type' | 'allowed_domains'>,
): PolicyChange | null {
  const was = new Set(before.allowed_domains)
  const is = new Set(after.allowed_domains)
  const added = [...is.difference(was)]
  const removed = [...was.difference(is)]
  if (before.type === after.type && added.length === 0 && removed.length === 0) return null
  return {
    ...(before.type === after.type ? {} : { type: after.type }),
    domains_added: added,
    domains_removed: removed,
  }
}

/** Where a list names something for the second time, or null. */
export function findTwice(names: readonly string[]): number | null {
  const seen = new Set<string>()
  for (const [at, name] of names.entries()) {
    if (seen.has(name)) return at
    seen.add(name)
  }
  return null
}
