import { hostileCriteria } from './hostile-criteria.ts'
import type { HostileInput } from './hostile-input.ts'
import { hostileLines } from './hostile-lines.ts'
import { hostilePython } from './hostile-python.ts'
import { hostileSchemas } from './hostile-schemas.ts'
import { hostileTemplates } from './hostile-templates.ts'

/** What strangers may send to an eval, broken or meant to break, and what must come of each. */
export const hostileInputs: readonly HostileInput[] = [
  ...hostileLines,
  ...hostileSchemas,
  ...hostileTemplates,
  ...hostilePython,
  ...hostileCriteria,
]
