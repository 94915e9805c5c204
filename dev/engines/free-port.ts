import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

const TRIES_MAX = 200

// Below the range from which systems take the ports of outgoing connections (from 32768 on Linux, higher elsewhere).
// A client that keeps trying to reach an engine that is down would sooner or later be given that very port as its own,
// connect to itself, and keep the engine from coming back.
const PORT_MIN = 15_000
const PORT_MAX = 32_000

// Between choosing a port and the engine's own bind, another call could choose the same one.
const handedOut = new Set<number>()

/** A TCP port of 127.0.0.1 that nobody listens on and that this process has not been given before. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const port = randomInt(PORT_MIN, PORT_MAX)
    if (handedOut.has(port) || !(await portIsFree(port))) continue
    // Another call may have chosen the same port while this one was asking.
    if (handedOut.has(port)) continue
    handedOut.add(port)
    return port
  }
  throw new Error(`no unused port of 127.0.0.1 found in ${TRIES_MAX} tries`)
}

/** Whether a server could listen on this port of 127.0.0.1 now. */
export async function portIsFree(port: number): Promise<boolean> {
  try {
    await listenOnce(port)
    return true
  } catch {
    return false
  }
}

async function listenOnce(port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => server.close(() => resolve()))
  })
}
