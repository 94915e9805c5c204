#!/usr/bin/env node
import { runCommand } from './commands/command.ts'

process.exitCode = await runCommand(process.argv.slice(2))
