/**
 * From nothing to the first output of a command: out of the warm pool, against an exec in a container that is there;
 * and with an empty pool, against a bare create, start and exec with the same limits.
 */
import assert from 'node:assert/strict'
import type { Figure } from './figure.ts'
import { bareExec, bareRun, withBareContainer } from './sandbox-bare.ts'
import { withHost, withSandboxEngines, type BenchHost, type Runtime, type SandboxBench } from './sandbox-stack.ts'
import { ratioOf, takeTurns, timed, type Side, type Turns } from './sandbox-turns.ts'

export type SandboxStartSize = Omit<Turns, 'label'> & { readonly runtimes: readonly Runtime[] }

const command = 'echo hi'
const printed = 'hi\n'

export async function benchSandboxStart(size: SandboxStartSize, say: (line: string) => void): Promise<Figure[]> {
  return await withSandboxEngines(async (bench) => {
    const figures: Figure[] = []
    for (const runtime of size.runtimes) {
      const at = (way: string) => ({ ...size, label: `sandbox-start ${way} ${runtime}` })
      const warm = await withHost(bench, { runtime, pool: 1 }, (host) =>
        withBareContainer(bench, runtime, (bare) => {
          const exec = async () => assert.equal(await bareExec(bare, command), printed)
          return takeTurns([hosted(host), { name: 'bare exec', sample: () => timed(exec) }], at('warm'), say)
        }),
      )
      const cold = await withHost(bench, { runtime, pool: 0 }, (host) =>
        takeTurns([hosted(host), run(bench, runtime)], at('cold'), say),
      )
      figures.push(
        { name: `${at('warm').label} p50`, ...ratioOf(warm, 0, 1), target: { atMost: 2 } },
        { name: `${at('cold').label} p50`, ...ratioOf(cold, 0, 1), target: { atMost: 1.3 } },
      )
    }
    return figures
  })
}

/** Reserves a container, runs its first command, and takes the container away before anybody goes on. */
const hosted = (host: BenchHost): Side => ({
  name: 'hosted',
  async sample() {
    const began = performance.now()
    const containerId = await host.place()
    const { stdout, firstAt } = await host.exec(containerId, command)
    assert.equal(stdout, printed)
    await host.end(containerId)
    return firstAt - began
  },
})

const run = (bench: SandboxBench, runtime: Runtime): Side => ({
  name: 'bare run',
  async sample() {
    const began = performance.now()
    const { stdout, remove } = await bareRun(bench, runtime, command)
    const took = performance.now() - began
    assert.equal(stdout, printed)
    await remove()
    return took
  },
})
