import assert from 'node:assert/strict'
import { createFile, createUpload, createUploadPart, type File } from '@switchyard/contracts/files.ts'
import { sql } from 'kysely'
import type { TestApp } from '../../../../test/test-app.ts'
import { fileForm, partForm, uploadBody, type FormOptions } from './file-forms.ts'

export async function newFile(
  app: TestApp,
  content = 'hello\n',
  options: FormOptions & { key?: string } = {},
): Promise<File> {
  const { key = app.project.key, ...form } = options
  const reply = await app.call(createFile, { body: fileForm(content, form), key })
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}

export async function newUpload(app: TestApp, bytes: number, more: Record<string, unknown> = {}): Promise<string> {
  const reply = await app.call(createUpload, { body: uploadBody(bytes, more) })
  assert.equal(reply.status, 200, reply.text)
  return reply.body.id
}

export async function newPart(app: TestApp, uploadId: string, content: string): Promise<string> {
  const reply = await app.call(createUploadPart, { params: { upload_id: uploadId }, body: partForm(content) })
  assert.equal(reply.status, 200, reply.text)
  return reply.body.id
}

/** Puts the end of a file or upload so many seconds from now by the database's clock; a negative number is the past. */
export async function expireIn(app: TestApp, table: 'file' | 'upload', id: string, seconds: number): Promise<void> {
  await sql`update ${sql.raw(`files.${table}`)}
    set expires_at = clock_timestamp() + ${seconds} * interval '1 second' where id = ${id}`.execute(app.db.kysely)
}

/** The names of all blobs there are. */
export async function blobNames(app: TestApp): Promise<string[]> {
  const names: string[] = []
  for await (const { name } of app.wired.blobs.list('files')) names.push(name)
  return names
}
