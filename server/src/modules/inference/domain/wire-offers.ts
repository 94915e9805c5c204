import { Fault } from '#platform/errors/fault.ts'
import type { Model, ProviderWire } from './model.ts'

/** What each wire cannot say. A request that asks for it is refused: nothing is ignored in silence. */
const missing: Readonly<Record<ProviderWire, readonly string[]>> = {
  chat_completions: [],
  responses: ['stop', 'seed', 'frequency_penalty', 'presence_penalty'],
  messages: ['seed', 'frequency_penalty', 'presence_penalty', 'logprobs', 'top_logprobs', 'verbosity'],
}

/** `place` goes before the name of a field where the caller did not write it at the top. */
export function checkWireOffers(
  { provider, id }: Model,
  body: Readonly<Record<string, unknown>>,
  place: '' | `${string}.` = '',
): void {
  for (const field of missing[provider.wire]) {
    const asked = body[field]
    if (asked === undefined || asked === null || asked === false) continue
    const param = `${place}${field}`
    throw new Fault('unsupported_value', `The provider of ${id} does not offer '${field}'.`, { param })
  }
}

/** Images and files go only to models that read them. */
export function checkContent(
  { capabilities, id }: Model,
  messages: readonly { readonly role: string; readonly content?: unknown }[],
): void {
  if (capabilities.images && capabilities.files) return
  for (const [at, { role, content }] of messages.entries()) {
    if (role !== 'user' || !Array.isArray(content)) continue
    const kinds = content.map(({ type }: { type: string }) => type)
    const refused = kinds.findIndex(
      (type) => (type === 'image_url' && !capabilities.images) || (type === 'file' && !capabilities.files),
    )
    if (refused < 0) continue
    const param = `messages[${at}].content[${refused}]`
    throw new Fault('unsupported_value', `${id} does not read ${kinds[refused] === 'file' ? 'files' : 'images'}.`, {
      param,
    })
  }
}
