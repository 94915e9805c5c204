import assert from 'node:assert/strict'
import {
  createSkill,
  createSkillVersion,
  retrieveSkillVersionContent,
  type Skill,
  type SkillVersion,
} from '@switchyard/contracts/skills.ts'
import { urlOf } from '../../../../test/call-operation.ts'
import type { TestApp } from '../../../../test/test-app.ts'
import { readArchive } from '../archive/read-archive.ts'
import { folderForm, type Files } from './skill-forms.ts'

export async function newSkill(app: TestApp, files?: Files, key = app.project.key): Promise<Skill> {
  const reply = await app.call(createSkill, { body: folderForm(files), key })
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}

export async function newVersion(
  app: TestApp,
  skillId: string,
  files?: Files,
  fields?: Record<string, string>,
): Promise<SkillVersion> {
  const body = folderForm(files, fields)
  const reply = await app.call(createSkillVersion, { params: { skill_id: skillId }, body })
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}

/** The bytes behind a path of the API. */
export async function download(app: TestApp, path: string): Promise<{ status: number; type: string; bytes: Buffer }> {
  const reply = await fetch(`${app.baseUrl}${path}`, { headers: { authorization: `Bearer ${app.project.key}` } })
  const bytes = Buffer.from(await reply.arrayBuffer())
  return { status: reply.status, type: reply.headers.get('content-type') ?? '', bytes }
}

/** The files of a version, by their paths. */
export async function filesOf(app: TestApp, skillId: string, version: string): Promise<Record<string, string>> {
  const url = urlOf('', retrieveSkillVersionContent, { params: { skill_id: skillId, version } })
  return unpacked((await download(app, url)).bytes)
}

export async function unpacked(zip: Buffer): Promise<Record<string, string>> {
  return Object.fromEntries((await readArchive(zip)).map(({ path, bytes }) => [path, bytes.toString()]))
}

/** The names of all zips that are stored. */
export async function skillBlobs(app: TestApp): Promise<string[]> {
  const names: string[] = []
  for await (const { name } of app.wired.blobs.list('skills')) names.push(name)
  return names
}
