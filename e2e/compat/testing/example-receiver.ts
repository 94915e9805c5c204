import { spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { becomesTrue } from '../../../dev/engines/wait-until.ts'

const EXAMPLE = fileURLToPath(new URL('../../../docs/examples/webhook-receiver.ts', import.meta.url))
const START_BOUND_MS = 30_000

export interface ExampleReceiver {
  readonly url: string
  /** What it worked on, one line an event. */
  readonly worked: () => string[]
  stop(): Promise<void>
}

/** Runs the receiver of the guide as a developer would, on a port that is free. */
export async function startExampleReceiver(secret: string): Promise<ExampleReceiver> {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', EXAMPLE], {
    env: { ...process.env, WEBHOOK_SECRET: secret, PORT: '0' },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let text = ''
  child.stdout.setEncoding('utf8').on('data', (chunk: string) => (text += chunk))
  const lines = () => text.split('\n').slice(0, -1)
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  if (!(await becomesTrue(() => lines().length > 0, START_BOUND_MS))) throw new Error('the example does not start')
  return {
    url: `http://127.0.0.1:${lines()[0]?.split(' ')[1]}/`,
    worked: () => lines().slice(1),
    async stop() {
      child.kill()
      await ended
    },
  }
}
