import type { StringCheckOperation } from '@switchyard/contracts/evals/graders.ts'

/** Whether an output is, or holds, what was expected. */
export function stringCheck(operation: StringCheckOperation, input: string, reference: string): boolean {
  switch (operation) {
    case 'eq':
      return input === reference
    case 'ne':
      return input !== reference
    case 'like':
      return input.includes(reference)
    case 'ilike':
      return input.toLowerCase().includes(reference.toLowerCase())
  }
}
