/**
 * A command of a hosted shell, the whole way with its records and the ledger, against a bare exec of the same command
 * through the same socket in a container with the same options.
 */
import assert from 'node:assert/strict'
import type { Figure } from './figure.ts'
import { bareExec, withBareContainer } from './sandbox-bare.ts'
import { withHost, withSandboxEngines, type Runtime } from './sandbox-stack.ts'
import { ratioOf, takeTurns, timed, type Turns } from './sandbox-turns.ts'

export type SandboxExecSize = Omit<Turns, 'label'> & { readonly runtimes: readonly Runtime[] }

const command = 'echo hi'
const printed = 'hi\n'

export async function benchSandboxExec(size: SandboxExecSize, say: (line: string) => void): Promise<Figure[]> {
  return await withSandboxEngines(async (bench) => {
    const figures: Figure[] = []
    for (const runtime of size.runtimes) {
      const label = `sandbox-exec ${runtime}`
      const medians = await withHost(bench, { runtime, pool: 0 }, (host) =>
        withBareContainer(bench, runtime, async (bare) => {
          const containerId = await host.place()
          const ours = async () => assert.equal((await host.exec(containerId, command)).stdout, printed)
          const theirs = async () => assert.equal(await bareExec(bare, command), printed)
          const sides = [
            { name: 'hosted', sample: () => timed(ours) },
            { name: 'bare', sample: () => timed(theirs) },
          ]
          return await takeTurns(sides, { ...size, label }, say)
        }),
      )
      figures.push({ name: `${label} p50`, ...ratioOf(medians, 0, 1), target: { atMost: 1.2 } })
    }
    return figures
  })
}
