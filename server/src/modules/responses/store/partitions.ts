import type { DayTables } from '#platform/db/day-partitions.ts'

export const dayTables: DayTables = {
  schema: 'responses',
  idPrefix: 'resp_',
  tables: [
    { name: 'response', column: 'id' },
    { name: 'item', column: 'response_id' },
    { name: 'event', column: 'response_id' },
  ],
}
