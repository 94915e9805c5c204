/**
 * The twin of GET /v1/files/{id}: Fastify and pg with nothing between them, the same two statements under the same
 * names, the same JSON. No validation, no log, no metrics, no error replies worth the name.
 */
import { hash } from 'node:crypto'
import { fastify } from 'fastify'
import pg from 'pg'
import type { SentStatement } from './sent-statement.ts'

export interface BareOptions {
  readonly port: number
  readonly postgresUrl: string
  readonly connectionsMax: number
  readonly findKey: SentStatement
  readonly findFile: SentStatement
}

interface KeyRow {
  project_id: string
}

interface FileRow {
  id: string
  filename: string
  purpose: string
  bytes: string
  created_at: Date
  expires_at: Date | null
}

const seconds = (at: Date) => Math.floor(at.getTime() / 1_000)
const prefix = 'Bearer '

async function serve(options: BareOptions): Promise<void> {
  const pool = new pg.Pool({ connectionString: options.postgresUrl, max: options.connectionsMax })
  const app = fastify({ logger: false })
  app.get('/v1/files/:file_id', async (request, reply) => {
    const token = (request.headers.authorization ?? '').slice(prefix.length)
    const keys = await pool.query<KeyRow>({ ...options.findKey, values: [hash('sha256', token, 'buffer')] })
    const key = keys.rows[0]
    if (key === undefined) return await reply.code(401).send()
    const { file_id: id } = request.params as { file_id: string }
    const files = await pool.query<FileRow>({ ...options.findFile, values: [id, key.project_id] })
    const file = files.rows[0]
    if (file === undefined) return await reply.code(404).send()
    return {
      id: file.id,
      object: 'file',
      bytes: Number(file.bytes),
      created_at: seconds(file.created_at),
      expires_at: file.expires_at === null ? null : seconds(file.expires_at),
      filename: file.filename,
      purpose: file.purpose,
      status: 'processed',
      status_details: null,
    }
  })
  process.once('SIGTERM', () => void app.close().then(() => pool.end()))
  await app.listen({ host: '127.0.0.1', port: options.port })
}

await serve(JSON.parse(process.env['BENCH_OPTIONS'] ?? '') as BareOptions)
