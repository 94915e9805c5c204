import type { CompletionUsage } from '@switchyard/contracts/chat-completions.ts'
import type { Usage } from '@switchyard/contracts/responses/response.ts'

/** What a line used. */
export interface LineTokens {
  readonly input: number
  readonly cached: number
  readonly output: number
  readonly reasoning: number
}

export const noTokens: LineTokens = { input: 0, cached: 0, output: 0, reasoning: 0 }

export const responseTokens = (usage: Usage): LineTokens => ({
  input: usage.input_tokens,
  cached: usage.input_tokens_details.cached_tokens,
  output: usage.output_tokens,
  reasoning: usage.output_tokens_details.reasoning_tokens,
})

/** Providers pass on what they like in the details. */
const detail = (details: unknown, name: string): number => {
  const count = (details as Readonly<Record<string, unknown>> | null | undefined)?.[name]
  return Number.isSafeInteger(count) ? (count as number) : 0
}

export function tokensOfCompletion(usage: CompletionUsage | undefined): LineTokens {
  if (usage === undefined) return noTokens
  return {
    input: usage.prompt_tokens,
    cached: detail(usage.prompt_tokens_details, 'cached_tokens'),
    output: usage.completion_tokens,
    reasoning: detail(usage.completion_tokens_details, 'reasoning_tokens'),
  }
}
