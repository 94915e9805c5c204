import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { delimiter } from 'node:path'
import { fileURLToPath } from 'node:url'
import { checkAddresses } from './addresses.ts'
import { checkMigrations, lockMigrations } from './migrations.ts'

const ROOT = new URL('..', import.meta.url)
const STEP_LIMIT_MS = 5 * 60_000
const OUTPUT_BYTES_MAX = 16 * 1024 * 1024

interface StepResult {
  ok: boolean
  output: string
}

interface Step {
  name: string
  run: () => StepResult
  /** A file that must exist before the step makes sense; without it the step is skipped, and says so. */
  needs?: string
}

/** Runs a program of the project's own node_modules, or Node itself, at the root. */
function command(program: string, ...args: string[]): () => StepResult {
  return () => {
    const bin = fileURLToPath(new URL('node_modules/.bin', ROOT))
    const done = spawnSync(program === 'node' ? process.execPath : program, args, {
      cwd: fileURLToPath(ROOT),
      env: { ...process.env, PATH: `${bin}${delimiter}${process.env['PATH'] ?? ''}` },
      encoding: 'utf8',
      timeout: STEP_LIMIT_MS,
      maxBuffer: OUTPUT_BYTES_MAX,
    })
    const trouble = done.error === undefined ? '' : `${done.error.message}\n`
    return { ok: done.status === 0, output: `${done.stdout ?? ''}${done.stderr ?? ''}${trouble}` }
  }
}

function faults(list: () => string[]): () => StepResult {
  return () => {
    const found = list()
    return { ok: found.length === 0, output: found.join('\n') }
  }
}

function addresses(): StepResult {
  const report = checkAddresses(ROOT)
  const ok = report.faults.length === 0 && report.filesRead > 0
  return { ok, output: [...report.faults, `${report.filesRead} files read`].join('\n') }
}

const STEPS: Step[] = [
  { name: 'format', run: command('oxfmt', '--check') },
  { name: 'lint', run: command('oxlint') },
  { name: 'types', run: command('tsc', '-p', '.') },
  { name: 'tidy', run: command('node', 'tools/tidy.ts') },
  { name: 'dead code', run: command('knip', '--no-progress') },
  { name: 'openapi', run: command('node', 'tools/openapi.ts', '--check'), needs: 'tools/openapi.ts' },
  {
    name: 'settings page',
    run: command('node', 'server/src/main.ts', 'settings', '--check'),
    needs: 'server/src/main.ts',
  },
  { name: 'migrations', run: faults(checkMigrations) },
  { name: 'seeds', run: command('node', 'tools/seeds.ts', '--check') },
  { name: 'addresses', run: addresses },
]

function main(args: string[]): number {
  if (args.includes('--lock-migrations')) {
    lockMigrations()
    return 0
  }
  const failed: string[] = []
  for (const step of STEPS) {
    if (step.needs !== undefined && !existsSync(new URL(step.needs, ROOT))) {
      console.log(`skip ${step.name}: ${step.needs} does not exist yet`)
      continue
    }
    const startedAt = performance.now()
    const { ok, output } = step.run()
    console.log(`${ok ? 'ok  ' : 'FAIL'} ${step.name} (${((performance.now() - startedAt) / 1000).toFixed(1)} s)`)
    if (ok) continue
    failed.push(step.name)
    console.log(output.trimEnd().replaceAll(/^/gm, '    '))
  }
  console.log(failed.length === 0 ? 'check: all good' : `check: failed in ${failed.join(', ')}`)
  return failed.length === 0 ? 0 : 1
}

if (import.meta.main) process.exitCode = main(process.argv.slice(2))
