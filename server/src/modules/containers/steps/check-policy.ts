import type { RequestNetworkPolicy } from '@switchyard/contracts/containers.ts'
import type { OrgId } from '@switchyard/contracts/ids.ts'
import type { Orgs } from '#modules/orgs/index.ts'
import { Fault } from '#platform/errors/fault.ts'
import { isWithin, plainDomain } from '../domain/domains.ts'
import type { GivenSecret } from '../egress/secrets.ts'

export interface CheckedPolicy {
  /** Null: no network. */
  readonly allowedDomains: readonly string[] | null
  readonly secrets: readonly GivenSecret[]
}

/** What a request may reach: what it asks for, if all of that is on the organisation's list. */
export async function checkPolicy(
  orgs: Pick<Orgs, 'networkPolicy'>,
  orgId: OrgId,
  policy: RequestNetworkPolicy | undefined,
  param: string,
): Promise<CheckedPolicy> {
  if (policy?.type !== 'allowlist') return { allowedDomains: null, secrets: [] }
  const organization = await orgs.networkPolicy(orgId)
  const listed = organization.type === 'allowlist' ? organization.allowedDomains : []
  const domains = policy.allowed_domains.map(plainDomain)
  for (const [at, domain] of domains.entries()) {
    if (isWithin(listed, domain)) continue
    throw new Fault('domain_not_allowed', `${domain} is not on the list of domains that the organisation allows.`, {
      param: `${param}.allowed_domains[${at}]`,
    })
  }
  const secrets = checkSecrets(policy.domain_secrets ?? [], domains, `${param}.domain_secrets`)
  return { allowedDomains: domains.length === 0 ? null : [...new Set(domains)], secrets }
}

/** With a line break in a value, one header would become two. */
const unsendable = /[\x00-\x08\x0a-\x1f\x7f]/

function checkSecrets(
  given: readonly { domain: string; name: string; value?: string | undefined }[],
  domains: readonly string[],
  param: string,
): GivenSecret[] {
  const names = new Set<string>()
  return given.map(({ domain, name, value }, at) => {
    const plain = plainDomain(domain)
    const fault = (message: string, field: string) =>
      new Fault('invalid_value', message, { param: `${param}[${at}].${field}` })
    if (plain.startsWith('*.') || !domains.includes(plain)) {
      throw fault('The domain of a secret is one of allowed_domains, and no pattern.', 'domain')
    }
    if (!/^[\x21-\x7e]+$/.test(name)) throw fault('The name of a secret has visible ASCII characters only.', 'name')
    if (names.has(name)) throw fault('Two secrets have the same name.', 'name')
    names.add(name)
    if (value === undefined) {
      throw new Fault('missing_required_parameter', `Missing required parameter: '${param}[${at}].value'.`, {
        param: `${param}[${at}].value`,
      })
    }
    if (unsendable.test(value)) throw fault('A header cannot carry this value: it has a control character.', 'value')
    return { domain: plain, name, value }
  })
}
