import { z } from 'zod'
import type { LimitedModel, LimitsBook } from './limits-book.ts'
import { earnedTiers, standardTiers, type EarnedTier, type GroupLimits, type TierTerms } from './tiers.ts'

const limitMax = 1_000_000_000_000
const dollarsMax = 1_000_000_000
const namesMax = 1_000
const regionsMax = 1_000

/** Null takes a limit away. */
const limit = z.int().min(1).max(limitMax).nullable()
const dollars = z.number().min(0).max(dollarsMax).multipleOf(0.01)

const Limits = z
  .strictObject({
    requests_per_minute: limit,
    requests_per_day: limit,
    tokens_per_minute: limit,
    tokens_per_day: limit,
    images_per_minute: limit,
    audio_minutes_per_minute: limit,
    batch_queue_tokens: limit,
  })
  .partial()
type Limits = z.infer<typeof Limits>

const Terms = z.strictObject({ paid: dollars, monthly: dollars, limits: Limits }).partial()
const byTier = <Each extends z.ZodType>(each: Each) => z.partialRecord(z.enum(earnedTiers), each)
const byName = z
  .record(z.string().min(1), byTier(Limits))
  .refine((names) => Object.keys(names).length <= namesMax, `must have at most ${namesMax} names`)

const LimitsFile = z.strictObject({
  tiers: byTier(Terms).default({}),
  families: byName.default({}),
  models: byName.default({}),
  allowed_regions: z.array(z.string().min(1)).max(regionsMax).nullable().default(null),
})
type LimitsFile = z.infer<typeof LimitsFile>

/** The numbers that a file gives, the standard ones where it gives none; or everything that is wrong with it. */
export function readBook(
  content: unknown,
  models: readonly LimitedModel[] | null,
): { book: LimitsBook | null; problems: string[] } {
  const parsed = LimitsFile.safeParse(content)
  if (!parsed.success) {
    return { book: null, problems: parsed.error.issues.map(({ path, message }) => `${pathText(path)}: ${message}`) }
  }
  const book: LimitsBook = {
    tiers: tiersOf(parsed.data),
    families: byNameOf(parsed.data.families),
    models: byNameOf(parsed.data.models),
    allowedRegions: parsed.data.allowed_regions,
  }
  const problems = [...thresholdProblems(book.tiers), ...(models === null ? [] : nameProblems(parsed.data, models))]
  return { book: problems.length > 0 ? null : book, problems }
}

function tiersOf({ tiers }: LimitsFile): Record<EarnedTier, TierTerms> {
  const terms = earnedTiers.map((tier): [EarnedTier, TierTerms] => {
    const standard = standardTiers[tier]
    const { paid, monthly, limits = {} } = tiers[tier] ?? {}
    return [
      tier,
      {
        paidCents: paid === undefined ? standard.paidCents : cents(paid),
        monthlyCents: monthly === undefined ? standard.monthlyCents : cents(monthly),
        limits: { ...standard.limits, ...groupLimits(limits) },
      },
    ]
  })
  return Object.fromEntries(terms) as Record<EarnedTier, TierTerms>
}

const cents = (amount: number) => Math.round(amount * 100)

function byNameOf(names: LimitsFile['families']): LimitsBook['families'] {
  return Object.fromEntries(
    Object.entries(names).map(([name, tiers]) => [
      name,
      Object.fromEntries(Object.entries(tiers).map(([tier, limits]) => [tier, groupLimits(limits)])),
    ]),
  )
}

const fields = {
  requests_per_minute: 'requestsPerMinute',
  requests_per_day: 'requestsPerDay',
  tokens_per_minute: 'tokensPerMinute',
  tokens_per_day: 'tokensPerDay',
  images_per_minute: 'imagesPerMinute',
  audio_minutes_per_minute: 'audioMinutesPerMinute',
  batch_queue_tokens: 'batchQueueTokens',
} as const satisfies Record<keyof Limits, keyof GroupLimits>

function groupLimits(limits: Limits): Partial<GroupLimits> {
  return Object.fromEntries(Object.entries(limits).map(([name, value]) => [fields[name as keyof Limits], value]))
}

/** Paying more never means a lower tier. */
function thresholdProblems(tiers: Readonly<Record<EarnedTier, TierTerms>>): string[] {
  if (tiers.free.paidCents !== 0) return ['tiers.free.paid: must be 0; nothing is paid for it']
  return earnedTiers.slice(1).flatMap((tier, at) => {
    const below = earnedTiers[at] ?? 'free'
    if (tiers[tier].paidCents > tiers[below].paidCents) return []
    return [`tiers.${tier}.paid: must be more than that of ${below}`]
  })
}

/** A name that no model has would limit nothing, without a word. */
function nameProblems(file: LimitsFile, models: readonly LimitedModel[]): string[] {
  const families = new Set(models.map(({ family }) => family))
  const unknownFamilies = Object.keys(file.families)
    .filter((name) => !families.has(name))
    .map((name) => `families.${name}: no model of the catalogue is of this family`)
  const unknownModels = Object.keys(file.models).flatMap((name) => {
    if (models.some(({ id }) => id === name)) return []
    const aliased = models.find(({ aliases }) => aliases.includes(name))
    if (aliased !== undefined) return [`models.${name}: is an alias; name the snapshot ${aliased.id}`]
    return [`models.${name}: no model of the catalogue has this id`]
  })
  return [...unknownFamilies, ...unknownModels]
}

function pathText(path: readonly PropertyKey[]): string {
  if (path.length === 0) return 'the file'
  return path
    .map((step) => (typeof step === 'number' ? `[${step}]` : `.${String(step)}`))
    .join('')
    .slice(1)
}
