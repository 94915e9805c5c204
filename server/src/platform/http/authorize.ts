import type { AnyOperation } from '@switchyard/contracts/operation.ts'
import { Fault } from '#platform/errors/fault.ts'
import type { Authenticate, Scope } from './principal.ts'

/** Longer than any key we mint; a longer text is not looked up. */
const tokenMax = 200

type Headers = Readonly<Record<string, string | string[] | undefined>>

function bearerOf(headers: Headers): string {
  const given = headers['authorization']
  if (typeof given !== 'string' || given === '') {
    throw new Fault(
      'missing_api_key',
      'You did not provide an API key. Send it in a header: Authorization: Bearer YOUR_KEY.',
    )
  }
  const token = /^Bearer +(\S+)$/i.exec(given)?.[1]
  if (token === undefined || token.length > tokenMax) throw new Fault('invalid_api_key', 'Incorrect API key provided.')
  return token
}

const opens: Record<Scope['kind'], string> = {
  project_key: 'project keys (sk-proj-…, sk-svcacct-…)',
  admin_key: 'admin keys (sk-admin-…)',
  ads_key: 'ads keys (adsk_…)',
}

/** Who is calling, or the fault that says why they may not. */
export async function authorize(operation: AnyOperation, headers: Headers, authenticate: Authenticate): Promise<Scope> {
  const principal = await authenticate(bearerOf(headers))
  if (principal === null) throw new Fault('invalid_api_key', 'Incorrect API key provided.')
  const { scope, granted } = principal
  if (scope.kind !== operation.auth) {
    throw new Fault(
      'invalid_api_key',
      `This kind of key does not open this path, which takes ${opens[operation.auth]}.`,
    )
  }
  // A client that has none set may send the header all the same, and empty.
  const organization = headers['openai-organization'] ?? ''
  if (organization !== '' && organization !== scope.orgId) {
    throw new Fault('mismatched_organization', 'The openai-organization header does not match the API key.')
  }
  const project = headers['openai-project'] ?? ''
  if (project !== '' && scope.kind === 'project_key' && project !== scope.projectId) {
    throw new Fault('mismatched_project', 'The openai-project header does not match the API key.')
  }
  if (granted !== null && !granted.has(operation.scope)) {
    throw new Fault(
      'insufficient_permissions',
      `The key lacks the scope ${operation.scope}, which this operation needs.`,
    )
  }
  return scope
}
