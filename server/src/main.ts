#!/usr/bin/env node
import { egress } from './commands/egress.ts'

const [name, ...args] = process.argv.slice(2)

// The proxy stays small: nothing else of the server is loaded into its process.
if (name === 'egress') process.exitCode = await egress.run(args)
else {
  const { runCommand } = await import('./commands/run-command.ts')
  process.exitCode = await runCommand(process.argv.slice(2))
}
