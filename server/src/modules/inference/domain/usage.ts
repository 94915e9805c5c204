import type { CompletionUsage } from '@switchyard/contracts/chat-completions.ts'
import type { Usage } from '@switchyard/contracts/responses/response.ts'

/** More than any model reads or says. */
const tokensMax = 1_000_000_000

/** Providers count as they like: what is no number of tokens is not kept, since it would spoil what is stored beside it. */
const tokenCount = (given: unknown): number =>
  typeof given === 'number' && given > 0 ? Math.min(Math.round(given), tokensMax) : 0

/** What a provider of our own wire counted. */
export function relayedUsage(usage: Readonly<Record<string, unknown>>): CompletionUsage {
  const counted = (given: unknown, name: string) => {
    const details = given as Record<string, unknown> | null | undefined
    return details?.[name] == null ? given : { ...details, [name]: tokenCount(details[name]) }
  }
  return {
    ...usage,
    prompt_tokens: tokenCount(usage['prompt_tokens']),
    completion_tokens: tokenCount(usage['completion_tokens']),
    total_tokens: tokenCount(usage['total_tokens']),
    ...('prompt_tokens_details' in usage && {
      prompt_tokens_details: counted(usage['prompt_tokens_details'], 'cached_tokens'),
    }),
    ...('completion_tokens_details' in usage && {
      completion_tokens_details: counted(usage['completion_tokens_details'], 'reasoning_tokens'),
    }),
  }
}

export function usageOf(counts: {
  input: number
  output: number
  cached?: number | undefined
  cacheWrite?: number | undefined
  reasoning?: number | undefined
}): Usage {
  const [input, output] = [tokenCount(counts.input), tokenCount(counts.output)]
  return {
    input_tokens: input,
    input_tokens_details: {
      cached_tokens: tokenCount(counts.cached),
      cache_write_tokens: tokenCount(counts.cacheWrite),
    },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: tokenCount(counts.reasoning) },
    total_tokens: input + output,
  }
}
