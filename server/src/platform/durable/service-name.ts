import { assert } from '../std/assert.ts'

const prefixForm = /^[A-Za-z][A-Za-z0-9_-]*$/

/** The engine's name of a handler. The prefix lets test files and two stacks share one engine. */
export function serviceName(prefix: string, handler: string): string {
  return `${prefix}.${handler}`
}

/** Names go into paths and into the engine's SQL, so only harmless letters are let through. */
export function checkPrefix(prefix: string): void {
  assert(prefixForm.test(prefix), `engine prefix ${JSON.stringify(prefix)}: letters, digits, _ and - only`)
}
