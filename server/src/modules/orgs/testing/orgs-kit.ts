import { listFiles } from '@switchyard/contracts/files.ts'
import type { UserId } from '@switchyard/contracts/ids.ts'
import { listAuditLogs, type AuditLog } from '@switchyard/contracts/organization/audit-logs.ts'
import { createInvite } from '@switchyard/contracts/organization/invites.ts'
import { createServiceAccount } from '@switchyard/contracts/organization/service-accounts.ts'
import { sql } from 'kysely'
import assert from 'node:assert/strict'
import { newId } from '#platform/std/ids.ts'
import type { TestApp } from '../../../../test/test-app.ts'

export const orgIdOf = (app: TestApp) => app.org.id
export const projectIdOf = (app: TestApp) => app.project.id

export interface Person {
  readonly id: UserId
  readonly email: string
}

export interface PersonOptions {
  readonly role?: 'owner' | 'reader'
  readonly projects?: { id: string; role: 'owner' | 'member' }[]
  /** The admin key that invites. */
  readonly key?: string
  readonly email?: string
}

/** Somebody who was invited and came. */
export async function newPerson(app: TestApp, options: PersonOptions = {}): Promise<Person> {
  const { role = 'reader', projects = [], key = app.org.adminKey, email = `${newId('p-')}@example.com` } = options
  const invited = await app.call(createInvite, { body: { email, role, projects }, key })
  assert.equal(invited.status, 200, invited.text)
  const { userId } = await app.orgs.acceptInvite({ inviteId: invited.body.id, email, name: 'A person' })
  return { id: userId, email }
}

/** Whether a project key opens the API at this moment. */
export async function opens(app: TestApp, key: string): Promise<boolean> {
  const reply = await app.call(listFiles, { key })
  assert.ok(reply.status === 200 || reply.error.code === 'invalid_api_key', reply.text)
  return reply.status === 200
}

export interface Robot {
  readonly id: string
  readonly keyId: string
  readonly key: string
}

export async function newRobot(app: TestApp, projectId: string = app.project.id): Promise<Robot> {
  const made = await app.call(createServiceAccount, { params: { project_id: projectId }, body: { name: 'robot' } })
  assert.ok(made.status === 200 && made.body.api_key !== null, made.text)
  return { id: made.body.id, keyId: made.body.api_key.id, key: made.body.api_key.value }
}

/** Puts the end of a key so many seconds from now by the database's clock; a negative number is the past. */
export async function expireKeyIn(app: TestApp, keyId: string, seconds: number): Promise<void> {
  await sql`update orgs.api_key set expires_at = clock_timestamp() + ${seconds} * interval '1 second'
    where id = ${keyId}`.execute(app.db.kysely)
}

/** What the audit log says of something, newest first. */
export async function auditOf(app: TestApp, resourceId: string): Promise<AuditLog[]> {
  const reply = await app.call(listAuditLogs, { query: { resource_ids: [resourceId], limit: 100 } })
  assert.equal(reply.status, 200, reply.text)
  return reply.body.data
}

export const auditTypesOf = async (app: TestApp, resourceId: string) =>
  (await auditOf(app, resourceId)).map(({ type }) => type)

export type Refusal = [status: number, code: string | null, param: string | null]

export const refusalOf = (reply: { status: number; error: { code: string | null; param: string | null } }): Refusal => [
  reply.status,
  reply.error.code,
  reply.error.param,
]
