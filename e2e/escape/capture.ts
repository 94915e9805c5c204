import { spawn, type ChildProcess } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { becomesTrue } from '../../dev/engines/wait-until.ts'
import { inNamespace, inward } from './namespaces.ts'
import { PacketReader, type Packet } from './packets.ts'

const startedMs = 15_000
const fenceMs = 15_000
const packetsMax = 1_000_000
/** Packets to these show that everything before them has been counted; nothing else goes there. */
const fenceAddress = '198.51.100.254'
const fencePortFirst = 20_000
const fencePorts = 40_000

/** Every packet that arrives at the internet, whoever sent it and whatever it is. */
export class Capture {
  readonly #child: ChildProcess
  readonly #packets: Packet[] = []
  #fences = 0
  #passed = -1

  private constructor(child: ChildProcess) {
    this.#child = child
    const reader = new PacketReader()
    child.stdout?.on('data', (chunk: Buffer) => this.#take(reader.take(chunk)))
  }

  static async start(internet: string): Promise<Capture> {
    const words = ['-i', inward, '-n', '-U', '-w', '-', '-s', '128', '-Q', 'in', '--immediate-mode']
    const child = spawn(...inNamespace(internet, 'tcpdump', words), { stdio: ['ignore', 'pipe', 'pipe'] })
    let said = ''
    child.stderr?.on('data', (chunk: Buffer) => (said += chunk.toString()))
    const capture = new Capture(child)
    if (!(await becomesTrue(() => said.includes('listening on'), startedMs))) {
      child.kill()
      throw new Error(`tcpdump does not listen: ${said}`)
    }
    return capture
  }

  /** What has arrived since the last time, once all of it is counted. */
  async take(): Promise<Packet[]> {
    const fence = this.#fences
    this.#fences += 1
    const socket = createSocket('udp4')
    try {
      socket.send('', fencePortFirst + (fence % fencePorts), fenceAddress)
      if (!(await becomesTrue(() => this.#passed >= fence, fenceMs))) throw new Error('packets are not counted')
    } finally {
      socket.close()
    }
    return this.#packets.splice(0)
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    this.#child.kill()
    await once(this.#child, 'exit')
  }

  #take(packets: readonly Packet[]): void {
    for (const packet of packets) {
      if (packet.to === fenceAddress && packet.protocol === 'udp') this.#passed += 1
      else if (this.#packets.length < packetsMax) this.#packets.push(packet)
    }
  }
}
