import { resolve } from 'node:path'
import { parseArgs } from 'node:util'
import type { Command } from './command.ts'

export const egress: Command = {
  usage: 'egress --folder=FOLDER',
  says: 'Run the proxy that is the only way out of containers. The role sandbox starts it.',
  async run(args) {
    const { values } = parseArgs({ args: [...args], options: { folder: { type: 'string' } } })
    if (values.folder === undefined) {
      process.stderr.write('Say where it keeps its state: switchyard egress --folder=FOLDER\n')
      return 2
    }
    const { runEgress } = await import('#modules/containers/egress/process.ts')
    return await runEgress(resolve(values.folder), (line) => process.stderr.write(`${line}\n`))
  },
}
