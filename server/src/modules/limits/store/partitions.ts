import type { DayTables } from '#platform/db/day-partitions.ts'
import { decisionPrefix } from './decisions.ts'
import { usagePrefix } from './usage.ts'

export const usageDays: DayTables = {
  schema: 'limits',
  idPrefix: usagePrefix,
  tables: [{ name: 'usage', column: 'id' }],
}

export const decisionDays: DayTables = {
  schema: 'limits',
  idPrefix: decisionPrefix,
  tables: [{ name: 'decision', column: 'id' }],
}
