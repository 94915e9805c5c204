import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import type { TestContext } from 'node:test'

export interface PostgresGate {
  /** The database, by way of this gate. */
  readonly url: string
  /** Cuts every connection, and each new one. */
  close(): void
  open(): void
  /** Lets the next commit through, and closes before anybody hears of it. */
  closeAtCommit(): void
}

/** Stands between a pool and a real server, which it makes unreachable. */
export async function postgresGate(t: TestContext, databaseUrl: string): Promise<PostgresGate> {
  const target = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  let state: 'open' | 'closed' | 'until commit' = 'open'
  const close = () => {
    state = 'closed'
    for (const socket of sockets) socket.destroy()
  }
  const server = createServer((client) => {
    client.on('error', () => client.destroy())
    if (state === 'closed') return client.destroy()
    const upstream = connect(Number(target.port), target.hostname)
    let deaf = false
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => socket.destroy())
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
    }
    client.on('data', (bytes) => {
      deaf ||= state === 'until commit' && bytes.includes('commit')
      upstream.write(bytes)
    })
    // What comes back now is the word that it is committed.
    upstream.on('data', (bytes) => (deaf ? close() : client.write(bytes)))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    close()
    server.close()
  })
  const url = new URL(databaseUrl)
  url.host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    url: url.href,
    close,
    open: () => (state = 'open'),
    closeAtCommit: () => (state = 'until commit'),
  }
}
