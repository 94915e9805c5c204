import type { KeyObject } from 'node:crypto'
import type { Sealer } from '#platform/secrets/seal.ts'
import { signingKey } from '../domain/signature.ts'
import type { TargetRow } from '../store/lanes.ts'

/** Where an endpoint's deliveries go, with what they are signed. Lives in memory only. */
export interface Target {
  readonly endpointId: string
  readonly projectId: string
  readonly url: string
  /** The same, parsed once. */
  readonly address: URL | string
  readonly keys: readonly KeyObject[]
  /** Which secrets the keys are of. */
  readonly secretIds: string
}

export const sealContext = (secretId: string) => `webhooks.secret:${secretId}`

/** What stayed the same since the last look is not opened again. */
export function openTarget(row: TargetRow, sealer: Sealer, before: Target | null = null): Target {
  const secretIds = row.secrets.map(({ id }) => id).join()
  if (before?.url === row.url && before.secretIds === secretIds) return before
  return {
    endpointId: row.id,
    projectId: row.project_id,
    url: row.url,
    address: URL.parse(row.url) ?? row.url,
    secretIds,
    keys: row.secrets.map(({ id, sealed }) => signingKey(sealer.open(sealed, sealContext(id)).toString('utf8'))),
  }
}
