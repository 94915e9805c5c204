import { createServer } from 'node:net'

const TRIES_MAX = 50

// Between choosing a port and the engine's own bind, the system may offer the same port again.
// Remembering what this process has handed out removes the common form of that race.
const handedOut = new Set<number>()

/** A TCP port of 127.0.0.1 that nobody listens on and that this process has not been given before. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const port = await anyPort()
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

async function anyPort(): Promise<number> {
  return await listenOnce(0)
}

async function listenOnce(port: number): Promise<number> {
  return await new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen({ host: '127.0.0.1', port, exclusive: true }, () => {
      const address = server.address()
      const chosen = typeof address === 'object' && address !== null ? address.port : 0
      server.close(() => resolve(chosen))
    })
  })
}
