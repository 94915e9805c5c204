export interface Step {
  readonly name: string
  readonly command: readonly string[]
  /** Its part of the time on two cores; docs/ci.md keeps the table. */
  readonly shareSeconds: number
  /** Appends its own counts to SWITCHYARD_TEST_COUNTS; other steps count as one. */
  readonly counts?: true
}

const test = (kind: string) => ['node', 'tools/test.ts', kind]

/** Cheapest first, so that a mistake is told early; what kills processes comes last. */
export const steps: readonly Step[] = [
  { name: 'check', command: ['node', 'tools/check.ts'], shareSeconds: 40 },
  { name: 'seeds', command: ['node', 'tools/seeds.ts', '--check'], shareSeconds: 5 },
  { name: 'unit', command: test('unit'), shareSeconds: 30, counts: true },
  { name: 'integration', command: test('int'), shareSeconds: 120, counts: true },
]
