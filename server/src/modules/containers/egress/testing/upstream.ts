import { createServer as createHttp, type IncomingMessage, type RequestListener } from 'node:http'
import { createServer as createHttps } from 'node:https'
import { once } from 'node:events'
import type { Server } from 'node:net'
import type { Ending } from './fake-dns.ts'

export type Seen = { secure: boolean; method: string; url: string; host: string; headers: IncomingMessage['headers'] }

/** A host of the outside world on an address of its own, with https on 443 and http on 80. */
export async function upstream(
  t: Ending,
  given: { address: string; cert: string; key: string; answer?: RequestListener },
) {
  const seen: Seen[] = []
  const listener =
    (secure: boolean): RequestListener =>
    (request, response) => {
      const { method = '', url = '', headers } = request
      seen.push({ secure, method, url, host: headers.host ?? '', headers })
      if (given.answer !== undefined) return given.answer(request, response)
      request.resume()
      response.end(`hello ${headers.host} ${url}`)
    }
  const https = createHttps({ cert: given.cert, key: given.key }, listener(true))
  const http = createHttp(listener(false))
  for (const [server, port] of [
    [https, 443],
    [http, 80],
  ] as const) {
    await listening(server, port, given.address)
    t.after(() => {
      server.closeAllConnections()
      server.close()
    })
  }
  return { seen, https, http }
}

async function listening(server: Server, port: number, address: string): Promise<void> {
  server.listen(port, address)
  await once(server, 'listening')
}
