export interface Step {
  readonly name: string
  readonly command: readonly string[]
  /** Its part of the time on two cores; docs/ci.md keeps the table. */
  readonly shareSeconds: number
  /** Appends its own counts to SWITCHYARD_TEST_COUNTS; other steps count as one. */
  readonly counts?: true
  /** It waits for most of its time and compares no times of its own: it runs beside another such step. */
  readonly beside?: true
}

const step = (name: string, shareSeconds: number, command: string): Step => ({
  name,
  shareSeconds,
  command: ['node', ...command.split(' ')],
})
const proof = (name: string, shareSeconds: number, command: string): Step => ({
  ...step(name, shareSeconds, command),
  counts: true,
})

const waiting = (name: string, shareSeconds: number, command: string): Step => ({
  ...proof(name, shareSeconds, command),
  beside: true,
})

/**
 * Cheapest first, so that a mistake is told early; what measures times has the machine for itself; what waits comes last,
 * two at a time, the longest first.
 */
export const ciSteps: readonly Step[] = [
  step('check', 60, 'tools/check.ts'),
  proof('unit', 60, 'tools/test.ts unit'),
  proof('integration', 780, 'tools/test.ts int'),
  proof('compat', 110, 'tools/test.ts compat'),
  proof('dev', 60, 'e2e/dev/dev-journey.ts'),
  proof('isolation', 120, 'e2e/sandbox/isolation.ts --quiet-ms 800 --only bomb,hog,setuid,sockets,link'),
  proof('fuzz', 30, 'e2e/fuzz/fuzz.ts --requests 5000'),
  proof('rolling', 60, 'e2e/rolling/rolling.ts --seconds 15'),
  proof('bench', 230, 'bench/run.ts --ci'),
  proof('limits', 45, 'e2e/limits/exact.load.ts --clients 200 --seeds 1 --seconds 4 --limit 240 --tokens 60000'),
  proof('backoff', 45, 'e2e/limits/backoff.load.ts --clients 12 --seconds 8 --limit 240'),
  proof('evals', 90, 'e2e/evals/small.ts'),
  proof('evals-hostile', 90, 'e2e/evals/hostile.chaos.ts'),
  waiting('responses', 110, 'e2e/responses/small.ts'),
  waiting('containers', 100, 'e2e/sandbox/small.ts'),
  waiting('escape', 80, 'e2e/escape/escape.ts'),
  waiting('engine', 80, 'e2e/chaos/engine.chaos.ts --pieces 200 --rounds 1'),
  waiting('secrets', 80, 'e2e/sandbox/secrets.ts --responses 12'),
  waiting('evals-chaos', 40, 'e2e/evals/rows.chaos.ts --rows 1000'),
  waiting('batches', 60, 'e2e/batches/batches.chaos.ts --lines 600 --kills 1'),
  waiting('expiry', 80, 'e2e/chaos/expiry.chaos.ts --files 300 --rounds 1'),
  waiting('webhooks', 80, 'e2e/webhooks/deliver-all.ts --events 600 --kills 1'),
  waiting('ledger', 50, 'e2e/limits/ledger.chaos.ts --requests 120 --kills 1'),
  waiting('limits-valkey', 40, 'e2e/limits/valkey.chaos.ts --seconds 4'),
  waiting('valkey', 30, 'e2e/valkey/valkey-loss.ts'),
]

/** The same at full size: what docs/proofs reports. */
export const soakSteps: readonly Step[] = [
  proof('fuzz', 600, 'e2e/fuzz/fuzz.ts --requests 100000'),
  proof('valkey', 60, 'e2e/valkey/valkey-loss.ts'),
  proof('limits-valkey', 200, 'e2e/limits/valkey.chaos.ts --seconds 30'),
  proof('rolling', 180, 'e2e/rolling/rolling.ts --seconds 60'),
  proof('webhooks', 1_800, 'e2e/webhooks/deliver-all.ts --events 100000 --kills 6 --everyone'),
  proof('expiry', 900, 'e2e/chaos/expiry.chaos.ts --files 2000 --rounds 10'),
  proof('engine', 1_200, 'e2e/chaos/engine.chaos.ts --pieces 2000 --rounds 10'),
  proof('responses', 900, 'e2e/responses/background.chaos.ts --responses 500 --rounds 10 --foreground 200'),
  proof('resume', 300, 'e2e/responses/resume.chaos.ts --streams 200'),
  proof('limits', 900, 'e2e/limits/exact.load.ts --nodes 4 --clients 1000 --seeds 20'),
  proof('backoff', 300, 'e2e/limits/backoff.load.ts --clients 200 --seconds 120'),
  proof('ledger', 180, 'e2e/limits/ledger.chaos.ts --requests 1000 --kills 4'),
  proof('ledger-settling', 180, 'e2e/limits/ledger.chaos.ts --requests 1000 --kills 4 --settle-tokens'),
  proof('evals', 1_200, 'e2e/evals/rows.load.ts --rows 100000'),
  proof('evals-limit', 600, 'e2e/evals/tpm.load.ts --rows 10000 --seconds 240'),
  proof('evals-chaos', 900, 'e2e/evals/rows.chaos.ts --rows 100000'),
  proof('evals-hostile', 300, 'e2e/evals/hostile.chaos.ts --all'),
  proof('evals-hostile-gvisor', 600, 'e2e/evals/hostile.chaos.ts --all --runtime runsc'),
  proof('batches', 1_800, 'e2e/batches/batches.chaos.ts --lines 50000 --kills 2'),
  proof('escape', 300, 'e2e/escape/escape.ts --image full'),
  proof('isolation', 600, 'e2e/sandbox/isolation.ts'),
  proof('clients', 300, 'e2e/responses/clients.bounds.ts --clients 10000 --slow 60 --wait-cut'),
  proof('containers-durable', 1_200, 'e2e/sandbox/durable.chaos.ts --responses 100 --rounds 10'),
  proof('containers-expiry', 600, 'e2e/sandbox/expiry.chaos.ts --containers 500'),
  proof('containers-gvisor', 300, 'e2e/sandbox/expiry.chaos.ts --containers 100 --runtime runsc'),
  proof('secrets', 600, 'e2e/sandbox/secrets.ts --responses 100'),
]
