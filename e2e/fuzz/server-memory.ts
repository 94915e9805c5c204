import { readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'

export interface Memory {
  /** What the operating system counts: the promise is about this. */
  readonly residentBytes: number
  /** What is still referred to; growth here would be a leak, whatever the allocator does. */
  readonly heapBytes: number
}

const answerBoundMs = 30_000
const collections = 3
const pauseMs = 500

/** A connection to the inspector of the server process. */
async function inspect<Result>(port: number, method: string, params: object = {}): Promise<Result> {
  const reply = await fetch(`http://127.0.0.1:${port}/json/list`)
  const [target] = (await reply.json()) as { webSocketDebuggerUrl: string }[]
  if (target === undefined) throw new Error('the server has no inspector')
  const socket = new WebSocket(target.webSocketDebuggerUrl)
  try {
    return await new Promise<Result>((resolve, reject) => {
      const bound = setTimeout(() => reject(new Error(`${method} took too long`)), answerBoundMs)
      socket.addEventListener('error', () => reject(new Error('the inspector cannot be reached')))
      socket.addEventListener('open', () => socket.send(JSON.stringify({ id: 1, method, params })))
      socket.addEventListener('message', ({ data }) => {
        const message = JSON.parse(String(data)) as { id?: number; result: Result }
        if (message.id !== 1) return
        clearTimeout(bound)
        resolve(message.result)
      })
    })
  } finally {
    socket.close()
  }
}

export function residentBytes(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024
}

/** What is left after everything that can be collected was: an idle process would collect in its own time. */
export async function settledMemory(pid: number, inspectorPort: number): Promise<Memory> {
  for (let count = 0; count < collections; count += 1) {
    await inspect(inspectorPort, 'HeapProfiler.collectGarbage')
    await sleep(pauseMs)
  }
  const expression = 'process.memoryUsage().heapUsed'
  const { result } = await inspect<{ result: { value: number } }>(inspectorPort, 'Runtime.evaluate', { expression })
  return { residentBytes: residentBytes(pid), heapBytes: result.value }
}
