import { isStorable } from '#platform/std/storable-text.ts'
import { charsPerToken } from '#platform/std/token-estimate.ts'

/** What a request will cost at most, as far as its body tells. Read before it is validated: nothing is taken for granted. */
export interface Estimate {
  /** Null: absent, or nothing that could be the name of a model. It is kept and told, so it is bounded. */
  readonly model: string | null
  readonly background: boolean
  readonly inputTokens: number
  /** The token maximum that was asked for, of all answers together. */
  readonly outputMax: number | null
  /** What the token limits are charged: the larger of both. */
  readonly tokens: number
}

/** An image or a file is not text: each counts as 1,024 tokens, whatever its size. */
const charsPerAttachment = 4_096
const attachments = new Set(['image_url', 'file_data', 'data', 'encrypted_content'])
/** Fields that no model reads. */
const unread = new Set(['model', 'metadata', 'user', 'safety_identifier', 'prompt_cache_key', 'type', 'id', 'call_id'])
const answersMax = 10_000
const modelNameMax = 200

export function estimateRequest(body: unknown): Estimate {
  const given = typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {}
  const inputTokens = Math.ceil(charsIn(given) / charsPerToken)
  const each = tokenMax(given['max_output_tokens'] ?? given['max_completion_tokens'] ?? given['max_tokens'])
  const outputMax = each === null ? null : each * answers(given)
  return {
    model: nameIn(given['model']),
    background: given['background'] === true,
    inputTokens,
    outputMax,
    tokens: Math.max(outputMax ?? 0, inputTokens, 1),
  }
}

const nameIn = (value: unknown) =>
  typeof value === 'string' && value.length <= modelNameMax && isStorable(value) ? value : null

const tokenMax = (value: unknown) => (Number.isSafeInteger(value) && (value as number) > 0 ? (value as number) : null)

/** How many answers one request asks for: prompts of a list, and choices of each. */
function answers({ prompt, n }: Record<string, unknown>): number {
  const prompts = Array.isArray(prompt) ? Math.max(1, prompt.length) : 1
  return Math.min(answersMax, prompts * (tokenMax(n) ?? 1))
}

function charsIn(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 0
  if (Array.isArray(value)) return value.reduce((sum: number, one) => sum + charsIn(one), 0)
  let chars = 0
  for (const name in value) {
    if (unread.has(name)) continue
    const held = (value as Record<string, unknown>)[name]
    chars += attachments.has(name) && held !== null ? charsPerAttachment : charsIn(held)
  }
  return chars
}
