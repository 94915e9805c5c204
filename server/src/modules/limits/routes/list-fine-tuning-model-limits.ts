import { listFineTuningModelLimits } from '@switchyard/contracts/fine-tuning.ts'
import { route } from '#platform/http/route.ts'
import type { LimitsRouteUses } from './use.ts'

/** Nothing is fine-tuned here, so no job ever counts against these. */
const perModel = {
  max_concurrent_jobs: 3,
  max_jobs_per_1_day: 48,
  max_training_tokens_per_job: 50_000_000,
  active_jobs: 0,
  jobs_last_24_hours: 0,
} as const

export const listFineTuningModelLimitsRoute = ({ models }: Pick<LimitsRouteUses, 'models'>) =>
  route(listFineTuningModelLimits, async () => ({
    object: 'list' as const,
    data: models.map(({ id }) => ({ object: 'fine_tuning.model_limit' as const, model: id, ...perModel })),
    has_more: false as const,
  }))
