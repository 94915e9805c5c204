import type { WebhookSecretId } from '@switchyard/contracts/ids.ts'
import type { Tx } from '#platform/db/tx.ts'
import type { Sealer } from '#platform/secrets/seal.ts'
import { newId } from '#platform/std/ids.ts'
import { newSecret, secretHint } from '../domain/signature.ts'
import { insertSecret } from '../store/endpoints.ts'
import { sealContext } from '../dispatch/target.ts'

/** Makes the secret that signs from now on. The clear text is in the answer and nowhere else. */
export async function issueSecret(sealer: Sealer, tx: Tx, endpointId: string): Promise<string> {
  const secret = newSecret()
  const id = newId<WebhookSecretId>('whsk_')
  await insertSecret(tx, { id, endpointId, sealed: sealer.seal(secret, sealContext(id)), hint: secretHint(secret) })
  return secret
}
