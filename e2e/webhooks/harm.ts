import { Redis } from 'iovalkey'
import { sleep } from '#platform/std/clock.ts'
import type { Stack } from '../../dev/stack.ts'

/** What can be killed besides the processes of the stack. */
export interface Victim {
  kill9(): Promise<void>
  start(): Promise<void>
}

export interface Harm {
  readonly stack: Stack
  readonly publisher: Victim
  readonly gapMs: number
  readonly awayMs: number
}

async function wipeValkey(stack: Stack): Promise<void> {
  const client = new Redis(stack.valkey?.url ?? '')
  try {
    await client.flushall()
  } finally {
    client.disconnect()
  }
}

async function killNode(stack: Stack, name: string, awayMs: number): Promise<void> {
  const node = stack.nodes.find((one) => one.name === name)
  if (node === undefined) throw new Error(`there is no ${name}`)
  await node.process.kill9()
  await sleep(awayMs)
  await node.process.start()
  await node.waitReady()
}

/** One round: every process that has a part in delivery is killed once, in turn, and Valkey forgets everything. */
export async function harmOnce({ stack, publisher, gapMs, awayMs }: Harm): Promise<string[]> {
  const harms: [string, () => Promise<void>][] = [
    ['worker 1', () => killNode(stack, 'worker 1', awayMs)],
    [
      'restate',
      async () => {
        await stack.restate.kill9()
        await sleep(awayMs)
        await stack.restate.restart()
      },
    ],
    ['valkey wiped', () => wipeValkey(stack)],
    ['api', () => killNode(stack, 'api 1', awayMs)],
    ['worker 2', () => killNode(stack, 'worker 2', awayMs)],
    [
      'committing process',
      async () => {
        await publisher.kill9()
        await publisher.start()
      },
    ],
  ]
  for (const [, harm] of harms) {
    await sleep(gapMs)
    await harm()
  }
  return harms.map(([name]) => name)
}
