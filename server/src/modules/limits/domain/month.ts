/** Months are those of UTC: `2026-11`. */
export const monthOf = (at: Date): string => at.toISOString().slice(0, 7)

export const monthStart = (at: Date): Date => new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth()))

/** The buckets that hold what is spent this month: the organisation's and the project's. */
export function spendFields(projectId: string, at = new Date()): string[] {
  const month = monthOf(at)
  return [`spend:${month}`, `${projectId}:spend:${month}`]
}
