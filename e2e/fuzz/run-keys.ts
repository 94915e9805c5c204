import type { Keys } from './plan-request.ts'

interface Call {
  (method: string, path: string, body?: unknown): Promise<unknown>
}

export interface RunKeys {
  readonly keys: Keys
  readonly projectId: string
  /** Ids that no request may end: without them the run would only meet 401 from then on. */
  readonly protectedIds: readonly string[]
}

function caller(baseUrl: string, adminKey: string): Call {
  return async (method, path, body) => {
    const reply = await fetch(`${baseUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${adminKey}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    if (!reply.ok) throw new Error(`${method} ${path}: ${reply.status} ${await reply.text()}`)
    return await reply.json()
  }
}

const idsIn = (text: string) => text.match(/\b(?:proj_[a-z0-9]+_|key_|svcacct_|user-|adacct_)[0-9a-z]{26}\b/g) ?? []

/** Keys of every kind, good and weak, in the organisation that the stack was seeded with. */
export async function prepareKeys(
  baseUrl: string,
  seeded: { adminKey: string; projectKey: string; adsKey: string; projectId: string },
): Promise<RunKeys> {
  const call = caller(baseUrl, seeded.adminKey)
  const inProject = `/v1/organization/projects/${seeded.projectId}`
  // Whatever is there before the first request carries the run.
  const lists = ['/v1/organization/admin_api_keys', '/v1/organization/ads_api_keys', `${inProject}/api_keys`]
  const standing = await Promise.all(lists.map(async (path) => JSON.stringify(await call('GET', path))))
  const weak = (await call('POST', '/v1/organization/admin_api_keys', {
    name: 'weak',
    scopes: ['organization.read'],
  })) as { id: string; value: string }
  const robot = (await call('POST', `${inProject}/service_accounts`, { name: 'weak' })) as {
    id: string
    api_key: { id: string; value: string }
  }
  const ended = (await call('POST', '/v1/organization/admin_api_keys', { name: 'ended' })) as {
    id: string
    value: string
  }
  await call('DELETE', `/v1/organization/admin_api_keys/${ended.id}`)
  return {
    keys: {
      project_key: seeded.projectKey,
      admin_key: seeded.adminKey,
      ads_key: seeded.adsKey,
      weak: [weak.value, robot.api_key.value, ended.value],
    },
    projectId: seeded.projectId,
    protectedIds: [seeded.projectId, weak.id, robot.id, robot.api_key.id, ...standing.flatMap(idsIn)],
  }
}
