/** Something that must be true was not: a bug of ours, never a caller's mistake. */
export class AssertionFailed extends Error {
  override readonly name = 'AssertionFailed'
}

/** States what must be true here. What merely might be true is validated instead. */
export function assert(condition: unknown, message: string): asserts condition {
  if (!condition) throw new AssertionFailed(message)
}

/** The end of an exhaustive switch: the compiler refuses a case that was forgotten. */
export function unreachable(value: never): never {
  throw new AssertionFailed(`unreachable: ${JSON.stringify(value)}`)
}
