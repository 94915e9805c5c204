import { once } from 'node:events'
import { createServer, type AddressInfo, type Socket } from 'node:net'
import type { TestContext } from 'node:test'

export type RawServer = { port: number; accepts: () => number; open: () => number }

/** A listener that counts what it accepts and hands each socket to `serve`; it ends with the test. */
export async function rawServer(
  t: TestContext,
  serve: (socket: Socket) => void,
  host = '127.0.0.1',
  port = 0,
): Promise<RawServer> {
  const sockets = new Set<Socket>()
  let accepts = 0
  const server = createServer((socket) => {
    accepts += 1
    sockets.add(socket)
    socket.on('error', () => socket.destroy())
    socket.on('close', () => sockets.delete(socket))
    serve(socket)
  })
  server.listen(port, host)
  await once(server, 'listening')
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, accepts: () => accepts, open: () => sockets.size }
}

/** Answers every request on a socket with the same bytes. */
export function answering(reply: string): (socket: Socket) => void {
  return (socket) => socket.on('data', () => socket.write(reply))
}

export function httpReply(status: string, headers: readonly string[], body = ''): string {
  return [`HTTP/1.1 ${status}`, ...headers, `content-length: ${Buffer.byteLength(body)}`, '', body].join('\r\n')
}
