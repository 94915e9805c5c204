import { once } from 'node:events'
import { createServer, type Server } from 'node:net'

const ports = [22, 53, 80, 443, 8080, 8443]

/** Services of the machine itself, on every address that it has: a proxy that can be led to them will be met here. */
export class Doors {
  readonly #servers: Server[] = []
  readonly #met: string[] = []

  static async open(): Promise<Doors> {
    const doors = new Doors()
    for (const port of ports) {
      const server = createServer((socket) => {
        doors.#met.push(`${socket.localAddress} ${port}`)
        socket.on('error', () => socket.destroy())
        socket.end('HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nREACHED the machine')
      })
      server.listen(port, '::')
      await once(server, 'listening')
      doors.#servers.push(server)
    }
    return doors
  }

  /** Who came since the last time. */
  take(): string[] {
    return this.#met.splice(0)
  }

  close(): void {
    for (const server of this.#servers) server.close()
  }
}
