import { spawn } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { withCompileCache } from './testing/compile-cache.ts'
import { ciSteps, soakSteps, type Step } from './ci-steps.ts'

/** A step that hangs must not take the whole time of the run. */
const stepLimitFactor = 4

interface Outcome {
  readonly step: Step
  readonly seconds: number
  readonly ok: boolean
}

/** Two cores are what CI has. */
const stepsBeside = 2

async function runStep(step: Step, countsFile: string, output: 'inherit' | number): Promise<Outcome> {
  const began = performance.now()
  const [command = '', ...args] = step.command
  const child = spawn(command, args, {
    stdio: ['inherit', output, output],
    detached: true,
    env: { ...withCompileCache(process.env), SWITCHYARD_TEST_COUNTS: countsFile },
  })
  const end = () => {
    if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
  }
  const limit = setTimeout(end, step.shareSeconds * stepLimitFactor * 1_000)
  process.once('SIGTERM', end)
  const code = await new Promise<number | null>((resolve) => {
    child.once('error', () => resolve(127))
    child.once('exit', resolve)
  })
  clearTimeout(limit)
  process.off('SIGTERM', end)
  return { step, seconds: (performance.now() - began) / 1_000, ok: code === 0 }
}

const headOf = ({ name, shareSeconds }: Step) => `\n=== ${name} (share: ${shareSeconds} s)\n`

/** Steps that have the machine for themselves, and tell as they go. */
async function runAlone(steps: readonly Step[], countsFile: string): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  for (const step of steps) {
    process.stdout.write(headOf(step))
    outcomes.push(await runStep(step, countsFile, 'inherit'))
  }
  return outcomes
}

/** Steps that run beside each other. What each has to tell comes when it is over, in one piece. */
async function runBeside(steps: readonly Step[], folder: string, countsFile: string): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  const waiting = [...steps]
  const lane = async () => {
    for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) {
      const file = join(folder, `${step.name}.log`)
      const output = openSync(file, 'w')
      outcomes.push(await runStep(step, countsFile, output))
      closeSync(output)
      process.stdout.write(headOf(step) + readFileSync(file, 'utf8'))
    }
  }
  await Promise.all(Array.from({ length: stepsBeside }, lane))
  return outcomes
}

/** Steps that count tests append a line each; a failed step without a count is one failure. */
function addUp(countsFile: string, outcomes: readonly Outcome[]): { passed: number; failed: number } {
  const lines = readLines(countsFile).map((line) => JSON.parse(line) as { passed: number; failed: number })
  const passed = lines.reduce((sum, line) => sum + line.passed, 0)
  const failed = lines.reduce((sum, line) => sum + line.failed, 0)
  const checks = outcomes.filter(({ step }) => step.counts !== true)
  const broken = outcomes.filter(({ ok }) => !ok).length
  return { passed: passed + checks.filter(({ ok }) => ok).length, failed: Math.max(failed, broken) }
}

function readLines(file: string): string[] {
  try {
    return readFileSync(file, 'utf8')
      .split('\n')
      .filter((line) => line !== '')
  } catch {
    return []
  }
}

/** `node tools/ci.ts [--soak] [step …]` */
async function main(args: readonly string[]): Promise<number> {
  const steps = args.includes('--soak') ? soakSteps : ciSteps
  const only = args.filter((arg) => arg !== '--soak')
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-ci-'))
  const countsFile = join(folder, 'counts')
  const chosen = only.length === 0 ? steps : steps.filter(({ name }) => only.includes(name))
  const began = performance.now()
  const outcomes = [
    ...(await runAlone(
      chosen.filter(({ beside }) => beside !== true),
      countsFile,
    )),
    ...(await runBeside(
      chosen.filter(({ beside }) => beside === true),
      folder,
      countsFile,
    )),
  ]
  const minutes = ((performance.now() - began) / 60_000).toFixed(1)
  process.stdout.write(`\nStep                 share   took, ${minutes} minutes in all\n`)
  for (const { step, seconds, ok } of outcomes) {
    const took = `${seconds.toFixed(0)} s`.padStart(7)
    process.stdout.write(
      `${step.name.padEnd(20)}${`${step.shareSeconds} s`.padStart(6)}${took}  ${ok ? 'ok' : 'FAILED'}\n`,
    )
  }
  const { passed, failed } = addUp(countsFile, outcomes)
  rmSync(folder, { recursive: true, force: true })
  process.stdout.write(`${passed} passed, ${failed} failed\n`)
  return failed === 0 ? 0 : 1
}

process.exitCode = await main(process.argv.slice(2))
