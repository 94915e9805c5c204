import type { Sealer } from '#platform/secrets/seal.ts'
import { signingKey } from '../domain/signature.ts'
import type { TargetRow } from '../store/lanes.ts'

/** Where an endpoint's deliveries go, with what they are signed. Lives in memory only. */
export interface Target {
  readonly endpointId: string
  readonly projectId: string
  readonly url: string
  readonly keys: readonly Buffer[]
  readonly failingSince: Date | null
}

export const sealContext = (secretId: string) => `webhooks.secret:${secretId}`

export function openTarget(row: TargetRow, sealer: Sealer): Target {
  return {
    endpointId: row.id,
    projectId: row.project_id,
    url: row.url,
    failingSince: row.failing_since,
    keys: row.secrets.map(({ id, sealed }) => signingKey(sealer.open(sealed, sealContext(id)).toString('utf8'))),
  }
}
