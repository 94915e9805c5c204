import type { Usage } from '@switchyard/contracts/responses/response.ts'

export function usageOf(counts: {
  input: number
  output: number
  cached?: number | undefined
  cacheWrite?: number | undefined
  reasoning?: number | undefined
}): Usage {
  const { input, output, cached = 0, cacheWrite = 0, reasoning = 0 } = counts
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cached, cache_write_tokens: cacheWrite },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: reasoning },
    total_tokens: input + output,
  }
}
