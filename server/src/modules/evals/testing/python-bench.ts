import type { ProjectId } from '@switchyard/contracts/ids.ts'
import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { ContainerJobs } from '#modules/containers/index.ts'
import {
  sandboxApp,
  type Runtime,
  type SandboxApp,
  type SandboxOptions,
} from '#modules/containers/testing/sandbox-app.ts'
import { becomesTrue } from '../../../../../dev/engines/wait-until.ts'
import { RowError } from '../domain/row-error.ts'
import { PythonGraders } from '../steps/python-graders.ts'
import type { Asking } from '../steps/patience.ts'
import type { PythonBounds } from '../steps/python/bounds.ts'

export const never = new AbortController().signal
const commandMs = 30_000
const waitMs = 60_000

export const half = 'def grade(sample, item):\n    return item["n"] / 2\n'
export const numbers = (count: number) => Array.from({ length: count }, (_, n) => ({ n }))
export const halves = (count: number) => numbers(count).map(({ n }) => n / 2)
export const slow = 'import time\ndef grade(sample, item):\n    time.sleep(item["s"])\n    return item["s"]\n'

/** The real door to containers, with a note of what went through it. */
class WatchedJobs {
  readonly #jobs: ContainerJobs
  readonly opened: string[] = []
  readonly ran: string[] = []

  constructor(jobs: ContainerJobs) {
    this.#jobs = jobs
  }

  get jobs(): ContainerJobs {
    return {
      ...this.#jobs,
      open: async (asked) => {
        const id = await this.#jobs.open(asked)
        this.opened.push(id)
        return id
      },
      run: (id, command, signal) => {
        this.ran.push(id)
        return this.#jobs.run(id, command, signal)
      },
    }
  }
}

export interface GradeOptions {
  readonly runId?: string
  readonly projectId?: ProjectId
  readonly signal?: AbortSignal
  readonly asking?: Asking
}

/** Python graders on a sandbox host of their own. */
export class PythonBench {
  readonly app: SandboxApp
  readonly watched: WatchedJobs
  readonly graders: PythonGraders

  constructor(app: SandboxApp, bounds: Partial<PythonBounds>) {
    this.app = app
    this.watched = new WatchedJobs(app.wired.containers.jobs)
    const { log } = app.wired
    this.graders = new PythonGraders({ jobs: this.watched.jobs, log, bounds: { rowMs: 3_000, ...bounds } })
  }

  /** Scores of rows that come together, in their order; of one that failed, the reason that its user is told. */
  async grade(source: string, items: readonly unknown[], options: GradeOptions = {}): Promise<(number | string)[]> {
    return await Promise.all(items.map((item) => this.score(source, item, options).catch(reasonOf)))
  }

  async score(source: string, item: unknown, options: GradeOptions = {}): Promise<number> {
    const { runId = 'evalrun_test', projectId = this.app.project.id, signal = never, asking } = options
    const sample = { output_text: `answer ${JSON.stringify(item)}`, output_json: null }
    return await this.graders.score({ projectId, runId, source, item, sample, asking }, signal)
  }

  /** What else runs as the graders' user in the newest container. */
  async listProcesses(): Promise<string[]> {
    const id = this.watched.opened.at(-1) ?? ''
    const text = `for p in /proc/[0-9]*; do [ -O $p ] && tr '\\0' ' ' < $p/cmdline && echo; done`
    const { stdout } = await this.app.wired.containers.jobs.run(id, { text, timeoutMs: commandMs }, never)
    return stdout.split('\n').filter((line) => line !== '' && !/\/proc\/\[0-9\]|supervise|^tr /.test(line))
  }

  /** Machines that carry a container now, as the engine names them. */
  async listMachines(): Promise<string[]> {
    const boxes = join(this.app.dir, 'boxes')
    const notes = await Promise.all(
      (await readdir(boxes)).map((name) => readFile(join(boxes, name, 'box.json'), 'utf8').catch(() => '{}')),
    )
    return notes.flatMap((note) => {
      const { engineId, filled } = JSON.parse(note) as { engineId?: string; filled?: boolean }
      return filled === true && engineId !== undefined ? [engineId] : []
    })
  }
}

function reasonOf(error: unknown): string {
  assert.ok(error instanceof RowError, String(error))
  assert.equal(error.code, 'python_grader_error')
  return error.message.replace(/^The Python grader failed: /, '')
}

export async function pythonBench(
  t: TestContext,
  runtime: Runtime,
  bounds: Partial<PythonBounds> = {},
  settings: Readonly<Record<string, string>> = {},
  docker?: SandboxOptions['docker'],
): Promise<PythonBench> {
  const app = await sandboxApp(t, {
    ...(docker === undefined ? {} : { docker }),
    runtime,
    settings: { SWITCHYARD_SANDBOX_DISK_MB_MAX: '64', SWITCHYARD_SANDBOX_POOL: '1', ...settings },
  })
  const bench = new PythonBench(app, bounds)
  t.after(() => bench.graders.part.stop?.())
  return bench
}

/** Once a command of a grader runs there. */
export async function machineAtWork(bench: PythonBench): Promise<string> {
  const found = async () => bench.watched.ran.length > 0 && (await bench.listMachines()).length === 1
  assert.ok(await becomesTrue(found, waitMs))
  const [machine] = await bench.listMachines()
  return machine ?? assert.fail()
}
