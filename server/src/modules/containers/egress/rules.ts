import { isListed } from './host-name.ts'

/** What an organisation allows now. One that the proxy was never told about allows nothing. */
export type Organization = { domains: readonly string[]; ports: readonly number[]; plainHttpSecrets: boolean }

/** What the request that made the container asked for. It can only narrow. */
export type RequestRules = {
  requestDomains: readonly string[]
  ports: readonly number[]
  plainHttpSecrets: boolean
}

const PORTS_ALWAYS: readonly number[] = [80, 443]

/** Null when a connection may be opened. */
export function refusalFor(
  request: RequestRules,
  organization: Organization | undefined,
  host: string,
  port: number,
): 'domain_not_allowed' | 'port_not_allowed' | null {
  if (organization === undefined) return 'domain_not_allowed'
  if (!isListed(organization.domains, host) || !isListed(request.requestDomains, host)) return 'domain_not_allowed'
  if (PORTS_ALWAYS.includes(port)) return null
  return organization.ports.includes(port) && request.ports.includes(port) ? null : 'port_not_allowed'
}
