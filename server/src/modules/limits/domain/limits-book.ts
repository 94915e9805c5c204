import { standardTiers, type EarnedTier, type GroupLimits, type TierTerms } from './tiers.ts'

/** What limits know of a model of the catalogue. */
export interface LimitedModel {
  readonly id: string
  readonly aliases: readonly string[]
  readonly family: string
  readonly contextWindow: number
  readonly maxOutputTokens: number
  readonly price: { readonly inputPerMtok: number; readonly cachedInputPerMtok: number; readonly outputPerMtok: number }
}

/** All numbers of this deployment: the tiers, and what families and models have of their own. */
export interface LimitsBook {
  readonly tiers: Readonly<Record<EarnedTier, TierTerms>>
  /** By family or by model: some limits in some tiers. */
  readonly families: Readonly<Record<string, Partial<Record<EarnedTier, Partial<GroupLimits>>>>>
  readonly models: Readonly<Record<string, Partial<Record<EarnedTier, Partial<GroupLimits>>>>>
  /** Regions whose organisations start with the tier free. Null: all. */
  readonly allowedRegions: readonly string[] | null
}

export const standardBook: LimitsBook = { tiers: standardTiers, families: {}, models: {}, allowedRegions: null }

/** For requests whose model cannot be told. They are counted all the same. */
export const unknownGroup = 'unknown'

/** What a model draws on: its family, or itself when the book has limits for it alone. */
export function groupOf(book: LimitsBook, model: LimitedModel): string {
  return book.models[model.id] === undefined ? model.family : model.id
}

export function limitsOf(book: LimitsBook, tier: EarnedTier, group: string): GroupLimits {
  const own = book.models[group]?.[tier] ?? book.families[group]?.[tier]
  return { ...book.tiers[tier].limits, ...own }
}
