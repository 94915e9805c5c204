import { createHash } from 'node:crypto'
import type { TestContext } from 'node:test'
import { z } from 'zod'
import { uploadRoute, type IncomingFile } from '../route.ts'
import { testServer, thing, type TestServer, type TestServerGiven } from './test-server.ts'

const fields = z.strictObject({
  purpose: z.enum(['evals', 'batch']),
  expires_after: z.strictObject({ anchor: z.string(), seconds: z.coerce.number() }).optional(),
  tags: z.array(z.string()).optional(),
})

export const uploadOperation = (bytesMax: number, filesMax?: number) =>
  thing({
    id: 'things.upload',
    method: 'POST',
    creates: true,
    body: {
      kind: 'multipart',
      fields,
      file: { name: 'file', bytesMax, ...(filesMax === undefined ? {} : { filesMax }) },
    },
  })

export interface UploadServer extends TestServer {
  /** How often a part was begun, kept whole, failed, and thrown away again. */
  readonly counts: { begun: number; kept: number; failed: number; discarded: number }
}

interface Kept {
  readonly sha256: string
  readonly bytes: number
  readonly filename: string
  readonly mimeType: string
}

/** A server with one multipart operation, whose receiver reads each part to its end and keeps only its digest. */
export async function uploadServer(
  t: TestContext,
  given: TestServerGiven & {
    bytesMax?: number
    filesMax?: number
    receive?: (file: IncomingFile) => Promise<Kept>
  } = {},
): Promise<UploadServer> {
  const counts = { begun: 0, kept: 0, failed: 0, discarded: 0 }
  const { bytesMax = 100_000, filesMax, receive = keep, ...rest } = given
  const route = uploadRoute(
    uploadOperation(bytesMax, filesMax),
    {
      async receive(file) {
        counts.begun += 1
        try {
          const kept = await receive(file)
          counts.kept += 1
          return kept
        } catch (error) {
          counts.failed += 1
          throw error
        }
      },
      async discard() {
        counts.discarded += 1
      },
      ...(filesMax === undefined ? {} : { join: joined }),
    },
    async ({ body, file }) => ({ fields: body, file }),
  )
  return { ...(await testServer(t, { routes: [route], ...rest })), counts }
}

/** One of several, with their names side by side. */
function joined(kept: readonly Kept[]): Kept {
  const hash = createHash('sha256')
  for (const { sha256 } of kept) hash.update(sha256)
  return {
    sha256: hash.digest('hex'),
    bytes: kept.reduce((sum, { bytes }) => sum + bytes, 0),
    filename: kept.map(({ filename }) => filename).join('|'),
    mimeType: kept[0]?.mimeType ?? '',
  }
}

async function keep({ stream, filename, mimeType }: IncomingFile): Promise<Kept> {
  const hash = createHash('sha256')
  let bytes = 0
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    hash.update(chunk)
    bytes += chunk.length
  }
  return { sha256: hash.digest('hex'), bytes, filename, mimeType }
}

export const boundary = 'between'

/** One part, written by hand. */
export function part(name: string, content: string | Buffer, more: { filename?: string; type?: string } = {}): Buffer {
  const filename = more.filename === undefined ? '' : `; filename="${more.filename}"`
  const type = more.type === undefined ? '' : `content-type: ${more.type}\r\n`
  const head = `--${boundary}\r\ncontent-disposition: form-data; name="${name}"${filename}\r\n${type}\r\n`
  return Buffer.concat([Buffer.from(head), Buffer.from(content as string), Buffer.from('\r\n')])
}

export const lastBoundary = Buffer.from(`--${boundary}--\r\n`)
