/** As names are compared: in lower case and without the dot of the root. */
export const plainDomain = (text: string): string => text.toLowerCase().replace(/\.$/, '')

/** Exact, or below a `*.` entry; never the apex of one. */
export function domainMatches(entry: string, host: string): boolean {
  const name = plainDomain(host)
  const listed = plainDomain(entry)
  return listed.startsWith('*.') ? name.endsWith(listed.slice(1)) && name.length > listed.length - 1 : name === listed
}

/** Whether everything that the request's entry names is on the organisation's list. */
export function isWithin(organization: readonly string[], asked: string): boolean {
  const entry = plainDomain(asked)
  return organization.some((listed) => {
    const allowed = plainDomain(listed)
    if (allowed === entry) return true
    if (!allowed.startsWith('*.')) return false
    const base = entry.startsWith('*.') ? entry.slice(2) : entry
    return base.endsWith(allowed.slice(1)) && base.length > allowed.length - 1
  })
}
