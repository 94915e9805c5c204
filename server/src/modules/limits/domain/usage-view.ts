import type { Cost } from '@switchyard/contracts/organization/costs.ts'
import type { CompletionsUsage } from '@switchyard/contracts/organization/usage.ts'
import { nanosView } from './money-view.ts'
import type { BucketPage } from './usage-buckets.ts'
import type { GroupedUsage } from './usage-groups.ts'

export const completionsView = (used: GroupedUsage): CompletionsUsage => ({
  object: 'organization.usage.completions.result',
  input_tokens: used.inputTokens,
  output_tokens: used.outputTokens,
  input_cached_tokens: used.cachedTokens,
  input_uncached_tokens: Math.max(0, used.inputTokens - used.cachedTokens),
  input_audio_tokens: 0,
  output_audio_tokens: 0,
  num_model_requests: used.requests,
  project_id: used.projectId,
  user_id: used.userId,
  api_key_id: used.apiKeyId,
  model: used.model,
  batch: used.batch,
  service_tier: used.serviceTier,
  api_source: used.apiSource,
})

export const costView = (used: GroupedUsage): Cost => ({
  object: 'organization.costs.result',
  amount: nanosView(used.costNanos),
  line_item: used.model,
  project_id: used.projectId,
  user_id: used.userId,
  api_key_id: used.apiKeyId,
  api_source: used.apiSource,
  quantity: null,
  quantity_unit: null,
})

/** Every bucket of the page is there, also where nothing was used. */
export function usagePageView<Result>({ buckets, nextPage }: BucketPage, resultsOf: (start: number) => Result[]) {
  return {
    object: 'page' as const,
    data: buckets.map(({ start, end }) => ({
      object: 'bucket' as const,
      start_time: start,
      end_time: end,
      results: resultsOf(start),
    })),
    has_more: nextPage !== null,
    next_page: nextPage,
  }
}
