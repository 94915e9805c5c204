import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestContext } from 'node:test'

/** What happens to a request: it passes, is refused unseen, or is carried out while its sender is told that it failed. */
export type Fault = 'pass' | 'refuse' | 'lie'

/** Stands before a server and spoils chosen requests. The headers pass as they are, so signatures stay valid. */
export async function faultyProxy(
  t: TestContext,
  endpoint: string,
  judge: (method: string, url: string) => Fault,
): Promise<string> {
  const target = new URL(endpoint)
  const proxy = createServer((asked, reply) => {
    const fault = judge(asked.method ?? '', asked.url ?? '')
    const fail = (): void => void reply.writeHead(fault === 'refuse' ? 403 : 500, { connection: 'close' }).end()
    if (fault === 'refuse') {
      asked.resume().on('end', fail)
      return
    }
    const { method, url, headers } = asked
    const forwarded = request({ host: target.hostname, port: target.port, method, path: url, headers }, (answer) => {
      if (fault === 'lie') answer.resume().on('end', fail)
      else answer.pipe(reply.writeHead(answer.statusCode ?? 502, answer.headers))
    })
    forwarded.on('error', () => reply.destroy())
    asked.on('error', () => forwarded.destroy())
    reply.on('close', () => forwarded.destroy())
    asked.pipe(forwarded)
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  t.after(() => {
    proxy.closeAllConnections()
    proxy.close()
  })
  return `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`
}
