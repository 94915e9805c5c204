#!/usr/bin/env node
import { egress } from './commands/egress.ts'

const [name, ...args] = process.argv.slice(2)

// The proxy stays small: nothing else of the server is loaded into its process.
if (name === 'egress') process.exitCode = await egress.run(args)
else if (name === 'evals' && args[0] === 'run') {
  // A client of the API: people should not wait for a server to be loaded.
  const { evalsRun } = await import('./commands/evals-run.ts')
  process.exitCode = await evalsRun.run(args.slice(1))
} else {
  const { runCommand } = await import('./commands/run-command.ts')
  process.exitCode = await runCommand(process.argv.slice(2))
}
