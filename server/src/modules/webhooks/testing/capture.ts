import { spawn } from 'node:child_process'
import { connect } from 'node:net'
import { becomesTrue } from '../../../../../dev/engines/wait-until.ts'

const startBoundMs = 10_000
const controlBoundMs = 10_000

/** Packets on their way to a port, whoever sends them, over whichever interface. */
export interface Capture {
  readonly packets: number
  /** Whether the capture sees anything at all: it must see a connection that the test makes itself. */
  seesOwn(): Promise<boolean>
  end(): void
}

/** Null where the machine has no tcpdump or does not let us listen: then connections are counted and packets are not. */
export async function openCapture(port: number): Promise<Capture | null> {
  const child = spawn('tcpdump', ['-i', 'any', '--immediate-mode', '-l', '-nn', `dst port ${port}`], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let packets = 0
  let told = ''
  let over = false
  child.once('error', () => (over = true)).once('exit', () => (over = true))
  child.stdout.on('data', (chunk: Buffer) => (packets += chunk.toString().split('\n').length - 1))
  child.stderr.on('data', (chunk: Buffer) => (told += chunk.toString()))
  await becomesTrue(async () => over || told.includes('listening on'), startBoundMs)
  if (over) return null
  return {
    get packets() {
      return packets
    },
    async seesOwn() {
      const before = packets
      connect(port, '127.0.0.1').on('error', () => undefined)
      return await becomesTrue(async () => packets > before, controlBoundMs)
    },
    end: () => void child.kill(),
  }
}
