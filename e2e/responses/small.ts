/** One small round of each proof of this folder, one after the other: what CI runs. */
import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const programs = [
  ['background.chaos.ts', '--responses', '16', '--rounds', '1', '--foreground', '6'],
  ['resume.chaos.ts', '--streams', '10'],
  ['clients.bounds.ts', '--clients', '200', '--slow', '4'],
] as const

async function run([file, ...args]: readonly [string, ...string[]]): Promise<boolean> {
  console.log(`${file} ${args.join(' ')}`)
  const child = spawn(process.execPath, [fileURLToPath(new URL(file, import.meta.url)), ...args], { stdio: 'inherit' })
  const pass = (signal: NodeJS.Signals) => child.kill(signal)
  process.once('SIGTERM', pass)
  const code = await new Promise<number | null>((resolve) => child.once('exit', resolve))
  process.off('SIGTERM', pass)
  return code === 0
}

let failed = 0
for (const program of programs) if (!(await run(program))) failed += 1
process.exitCode = failed === 0 ? 0 : 1
