import type { KeyId, UserId } from '@switchyard/contracts/ids.ts'
import type { AdminScope } from '#platform/http/principal.ts'

/** Who is behind a change. The operator acts at the command line, or through what the deployment does by itself. */
export type Actor =
  | { readonly kind: 'api_key'; readonly keyId: KeyId; readonly requestId: string }
  | { readonly kind: 'session'; readonly userId: UserId; readonly requestId: string | null }
  | { readonly kind: 'operator' }

export const operator: Actor = { kind: 'operator' }

export function actorOf(context: { scope: AdminScope; request: { id: string } }): Actor {
  return { kind: 'api_key', keyId: context.scope.keyId, requestId: context.request.id }
}
