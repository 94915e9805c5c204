/** The kinds a test's name can carry: `x.int.test.ts` is of kind `int`, `x.test.ts` is a unit test. */
export const KINDS = ['unit', 'int', 'api', 'sweep', 'compat', 'chaos', 'fuzz', 'soak', 's3', 'e2e'] as const
export type Kind = (typeof KINDS)[number]

/** What one command runs. `int` is everything that needs services and belongs in every CI run. */
const RUNS: Record<Kind, readonly Kind[]> = {
  unit: ['unit'],
  int: ['int', 'api', 'sweep'],
  api: ['api'],
  sweep: ['sweep'],
  compat: ['compat'],
  chaos: ['chaos'],
  fuzz: ['fuzz'],
  soak: ['soak'],
  s3: ['s3'],
  e2e: ['e2e'],
}

export function isKind(word: string | undefined): word is Kind {
  return KINDS.some((kind) => kind === word)
}

export function kindOf(path: string): Kind {
  const mark = /\.([a-z0-9-]+)\.test\.ts$/.exec(path)?.[1]
  if (mark === undefined) {
    if (path.startsWith('server/test/sweeps/')) return 'sweep'
    return path.startsWith('e2e/compat/') ? 'compat' : 'unit'
  }
  if (isKind(mark) && mark !== 'unit') return mark
  // A misspelt kind would otherwise be a test that no command ever runs.
  throw new Error(`${path}: .${mark}.test.ts is no kind of test. Kinds are ${KINDS.slice(1).join(', ')}.`)
}

/** The test files that a command runs; with filters, those whose path contains one of them. */
export function selectTests(paths: readonly string[], kind: Kind, filters: readonly string[]): string[] {
  const wanted = RUNS[kind]
  return paths
    .filter((path) => wanted.includes(kindOf(path)))
    .filter((path) => filters.length === 0 || filters.some((filter) => path.includes(filter.replace(/^\.\//, ''))))
}
