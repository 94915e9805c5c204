import { randomInt } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as after } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import { fakeDns } from '../../../server/src/modules/containers/egress/testing/fake-dns.ts'
import { testCertificates } from '../../../server/src/modules/containers/egress/testing/test-ca.ts'
import { upstream } from '../../../server/src/modules/containers/egress/testing/upstream.ts'

/** Each has a secret of its own; the third has none, the fourth is on no list. */
export const hosts = {
  first: 'api.example',
  second: 'second.example',
  plain: 'plain.example',
  unlisted: 'unlisted.example',
} as const

export interface Call {
  readonly host: string
  readonly secure: boolean
  /** As the command named it: `12-curl`. */
  readonly call: string
  readonly url: string
  readonly authorization: string
  /** All headers and the body. */
  readonly text: string
}

export interface Outside {
  readonly calls: readonly Call[]
  /** Settings of the server that lead there. */
  readonly settings: Readonly<Record<string, string>>
  has(call: string): boolean
  close(): Promise<void>
}

const bodyBytesMax = 1024 * 1024
const pieceMs = 20

/** Stands for the internet: a resolver and hosts that say back whatever they are told. */
export async function openOutside(): Promise<Outside> {
  const ends: (() => void)[] = []
  const t = { after: (end: () => void) => void ends.push(end) }
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-outside-'))
  const { ca, cert, key } = await testCertificates(Object.values(hosts))
  const roots = join(folder, 'roots.pem')
  await writeFile(roots, ca)
  const address = `127.77.${randomInt(1, 255)}.${randomInt(1, 255)}`
  const dns = await fakeDns(t, new Map(Object.values(hosts).map((name) => [name, [address]])))
  const calls: Call[] = []
  const answer = (request: IncomingMessage, response: ServerResponse) => {
    takeCall(request)
      .then((call) => {
        calls.push(call)
        return sayBack(call, response)
      })
      .catch(() => response.destroy())
  }
  await upstream(t, { address, cert, key, answer })
  return {
    calls,
    settings: {
      SWITCHYARD_EGRESS_RESOLVER: dns.address,
      SWITCHYARD_EGRESS_ADDRESSES: '127.77.0.0/16',
      NODE_EXTRA_CA_CERTS: roots,
    },
    has: (name) => calls.some(({ call }) => call === name),
    async close() {
      for (const end of ends) end()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

async function takeCall(request: IncomingMessage): Promise<Call> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of request as AsyncIterable<Buffer>) {
    length += chunk.length
    if (length > bodyBytesMax) throw new Error('the body is too large')
    chunks.push(chunk)
  }
  const { url = '', headers } = request
  const host = headers.host ?? ''
  return {
    host,
    secure: 'encrypted' in request.socket,
    call: new URL(url, `https://${host}`).searchParams.get('call') ?? '',
    url,
    authorization: headers.authorization ?? '',
    text: `${JSON.stringify(request.rawHeaders)}\n${Buffer.concat(chunks).toString('latin1')}`,
  }
}

/** `/packed` in gzip, `/pieces` cut in the middle of the value, anything else whole; always in a header too. */
async function sayBack({ url, authorization, text }: Call, response: ServerResponse): Promise<void> {
  const body = JSON.stringify({ authorization, text })
  response.setHeader('x-said-back', authorization)
  response.setHeader('content-type', 'application/json')
  if (url.startsWith('/packed')) {
    response.setHeader('content-encoding', 'gzip')
    response.end(gzipSync(body))
  } else if (url.startsWith('/pieces')) {
    const middle = body.indexOf(authorization) + Math.floor(authorization.length / 2)
    response.write(body.slice(0, middle))
    await after(pieceMs)
    response.end(body.slice(middle))
  } else response.end(body)
}
