import type { DayTables } from '#platform/db/day-partitions.ts'

export const dayTables: DayTables = {
  schema: 'inference',
  idPrefix: 'chatcmpl-',
  tables: [{ name: 'completion', column: 'id' }],
}
