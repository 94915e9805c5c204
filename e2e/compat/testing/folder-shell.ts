import type { Shell, ShellOutputResult } from '@openai/agents'
import { execFile } from 'node:child_process'

const timeoutDefaultMs = 10_000

/** Runs commands in one folder of this machine, in the form that the agents package wants them run. */
export function folderShell(folder: string): Shell {
  return {
    async run({ commands, timeoutMs = timeoutDefaultMs, maxOutputLength }) {
      const output: ShellOutputResult[] = []
      for (const command of commands) output.push(await runCommand(folder, command, timeoutMs))
      return { output, ...(maxOutputLength === undefined ? {} : { maxOutputLength }) }
    },
  }
}

async function runCommand(cwd: string, command: string, timeoutMs: number): Promise<ShellOutputResult> {
  return await new Promise((resolve) => {
    execFile('/bin/sh', ['-c', command], { cwd, timeout: timeoutMs }, (error, stdout, stderr) => {
      const code = typeof error?.code === 'number' ? error.code : 0
      const outcome = error?.killed ? { type: 'timeout' as const } : { type: 'exit' as const, exitCode: code }
      resolve({ stdout, stderr, outcome })
    })
  })
}
