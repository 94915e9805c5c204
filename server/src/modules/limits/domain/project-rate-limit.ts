import type { ProjectRateLimit } from '@switchyard/contracts/organization/project-rate-limits.ts'
import { groupOf, type LimitedModel, type LimitsBook } from './limits-book.ts'
import type { GroupLimits } from './tiers.ts'

const idPrefix = 'rl-'

export const rateLimitId = (group: string): string => idPrefix + group

/** Every limit group of the catalogue, in order. */
export function limitGroups(book: LimitsBook, models: readonly LimitedModel[]): string[] {
  return [...new Set(models.map((model) => groupOf(book, model)))].toSorted()
}

/** What the wire calls each limit. Audio has two names for the same number: a megabyte counts as a minute. */
export const wireNames = {
  max_requests_per_1_minute: 'requestsPerMinute',
  max_tokens_per_1_minute: 'tokensPerMinute',
  max_images_per_1_minute: 'imagesPerMinute',
  max_audio_megabytes_per_1_minute: 'audioMinutesPerMinute',
  max_audio_minutes_per_1_minute: 'audioMinutesPerMinute',
  max_requests_per_1_day: 'requestsPerDay',
  max_tokens_per_1_day: 'tokensPerDay',
  batch_1_day_max_input_tokens: 'batchQueueTokens',
} as const satisfies Record<string, keyof GroupLimits>
export type WireName = keyof typeof wireNames

/** The lower of both; null is no limit. */
function lower(organization: number | null, project: number | null | undefined): number | null {
  if (organization === null || project === null || project === undefined) return organization ?? project ?? null
  return Math.min(organization, project)
}

/** `organization` is null where nothing is limited: then only what the project has set is shown. */
export function projectRateLimitView(
  group: string,
  organization: GroupLimits | null,
  project: Partial<GroupLimits>,
): ProjectRateLimit {
  const limits = Object.entries(wireNames).map(
    ([wire, name]) => [wire, lower(organization?.[name] ?? null, project[name])] as const,
  )
  return {
    id: rateLimitId(group),
    object: 'project.rate_limit',
    model: group,
    max_requests_per_1_minute: null,
    max_tokens_per_1_minute: null,
    ...Object.fromEntries(limits.filter(([, limit]) => limit !== null)),
  }
}

export type RateLimitChanges = { readonly [Name in WireName]?: number | null | undefined }

/** What a request asks to change, or the field that cannot be so. */
export function readChanges(
  changes: RateLimitChanges,
  organization: GroupLimits | null,
): { readonly changes: Partial<GroupLimits> } | { readonly field: WireName; readonly why: string } {
  const read: Partial<Record<keyof GroupLimits, number | null>> = {}
  for (const [field, value] of Object.entries(changes) as [WireName, number | null | undefined][]) {
    if (value === undefined) continue
    const name = wireNames[field]
    const most = organization?.[name] ?? null
    if (value !== null && most !== null && value > most) {
      return { field, why: `A project can only lower the limit of its organisation, which is ${most}.` }
    }
    if (read[name] !== undefined && read[name] !== value) {
      return { field, why: 'A megabyte of audio counts as a minute; both fields must say the same.' }
    }
    read[name] = value
  }
  return { changes: read }
}
