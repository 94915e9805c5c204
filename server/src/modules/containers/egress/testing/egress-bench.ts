import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { setTimeout as wait } from 'node:timers/promises'
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from 'node:tls'
import type { Receipt } from '../receipts.ts'
import type { GivenSecret } from '../secrets.ts'
import { startEgress } from '../start.ts'
import { fakeDns } from './fake-dns.ts'
import { testCertificates } from './test-ca.ts'

/** Stands for the public internet: the proxy is told that listed names may have addresses here. */
const OUTSIDE_RANGE = '127.77.0.0/16'
const NAMES = 'api.example listed.example other.example www.wild.example deep.www.wild.example rebind.example'.split(
  ' ',
)
const POLL_MS = 10
const POLLS_MAX = 500

/** The real proxy process with a DNS server of its own, and sockets that speak as the forwarder does. */
export async function egressBench(t: TestContext) {
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-egress-'))
  const certificates = await testCertificates(NAMES)
  const roots = join(folder, 'roots.pem')
  await writeFile(roots, certificates.ca)
  // An address of its own, so that test files that run at the same time can all have a port 443.
  const outside = `127.77.${randomInt(1, 255)}.${randomInt(1, 255)}`
  const dns = await fakeDns(t, new Map(NAMES.map((name) => [name, [outside]])))
  const client = await startEgress({
    folder: join(folder, 'state'),
    settings: { resolver: dns.address, addressesAllowed: [OUTSIDE_RANGE] },
    environment: { NODE_EXTRA_CA_CERTS: roots },
  })
  const { pid } = await client.ping()
  t.after(async () => {
    process.kill(pid, 'SIGKILL')
    const log = await readFile(join(folder, 'state', 'egress.log'), 'utf8')
    if (/Error/.test(log)) t.diagnostic(log)
    await rm(folder, { recursive: true, force: true })
  })
  let count = 0

  /** A container with its own socket. */
  async function container(given: {
    domains: string[]
    secrets?: GivenSecret[]
    plainHttpSecrets?: boolean
    ports?: number[]
    organizationId?: string
  }) {
    count += 1
    const containerId = `cntr_${count}`
    const organizationId = given.organizationId ?? `org_${count}`
    const rules = { ports: given.ports ?? [], plainHttpSecrets: given.plainHttpSecrets ?? false }
    await client.setOrganization(organizationId, { domains: given.domains, ...rules })
    if (given.secrets !== undefined) await client.park(containerId, given.secrets)
    const socketPath = join(folder, `${containerId}.sock`)
    const attached = await client.attach({
      containerId,
      organizationId,
      socketPath,
      requestDomains: given.domains,
      ...rules,
    })
    return { containerId, organizationId, socketPath, ...attached }
  }

  return {
    client,
    outside,
    dns,
    certificates,
    container,
    folder,
    pid,
    receiptsOf: (id: string, atLeast = 1) => receiptsOf(client, id, atLeast),
  }
}

/** Waits until the container has that many receipts. */
async function receiptsOf(
  client: Awaited<ReturnType<typeof startEgress>>,
  id: string,
  atLeast: number,
): Promise<Receipt[]> {
  for (let poll = 0; poll < POLLS_MAX; poll += 1) {
    const found: Receipt[] = []
    for (let after = 0, page = await client.receipts(0); ; page = await client.receipts(after)) {
      found.push(...page.receipts.filter(({ containerId }) => containerId === id))
      if (page.next === after || page.receipts.length === 0) break
      after = page.next
    }
    if (found.length >= atLeast) return found
    await wait(POLL_MS)
  }
  throw new Error(`no ${atLeast} receipts of ${id}`)
}

/** What a program inside gets when it connects to a port: the forwarder's socket with its first line. */
export async function enter(socketPath: string, port: 80 | 443 | 3128): Promise<Socket> {
  const socket = connect({ path: socketPath, allowHalfOpen: true })
  await once(socket, 'connect')
  // The proxy may have closed it by now.
  socket.on('error', () => socket.destroy())
  socket.write(`{"port":${port}}\n`)
  return socket
}

/** A TLS client inside. Rejects as the client's library would. */
export async function enterTls(socketPath: string, options: ConnectionOptions, by?: Socket): Promise<TLSSocket> {
  const socket = by ?? (await enter(socketPath, 443))
  const tls = connectTls({ socket, ...options })
  await once(tls, 'secureConnect')
  return tls
}

/** Sends text and gives everything that comes back until the other side is done. */
export async function say(socket: Socket, text: string): Promise<string> {
  socket.write(text, 'latin1')
  return await readAll(socket)
}

export async function readAll(socket: Socket): Promise<string> {
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  socket.on('error', () => socket.destroy())
  if (!socket.destroyed && !socket.readableEnded) await Promise.race([once(socket, 'end'), once(socket, 'close')])
  socket.destroy()
  return Buffer.concat(chunks).toString('latin1')
}

export const get = (host: string, path = '/', headers: readonly string[] = []): string =>
  [`GET ${path} HTTP/1.1`, `Host: ${host}`, ...headers, 'Connection: close', '', ''].join('\r\n')
