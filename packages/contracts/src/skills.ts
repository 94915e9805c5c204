import { z } from 'zod'
import { SkillId, SkillVersionId } from './ids.ts'
import { operation } from './operation.ts'
import { Order, pageOf, pageQuery } from './page.ts'

export const skillFilesMax = 500
/** Of a folder as sent, of an archive as sent, and of an archive unpacked. */
export const skillBytesMax = 50 * 1024 * 1024
const versionTextMax = 96

const timestamp = z.int().nonnegative()

export const Skill = z
  .strictObject({
    id: SkillId,
    object: z.literal('skill'),
    created_at: timestamp,
    name: z.string(),
    description: z.string(),
    default_version: z.string(),
    latest_version: z.string(),
  })
  .meta({ id: 'Skill' })

export const SkillVersion = z
  .strictObject({
    id: SkillVersionId,
    object: z.literal('skill.version'),
    skill_id: SkillId,
    version: z.string(),
    name: z.string(),
    description: z.string(),
    created_at: timestamp,
  })
  .meta({ id: 'SkillVersion' })

export type Skill = z.infer<typeof Skill>
export type SkillVersion = z.infer<typeof SkillVersion>

const skillParams = z.strictObject({ skill_id: SkillId })
/** A number, or `latest`. Other text names no version, and is answered so. */
const versionParams = z.strictObject({ skill_id: SkillId, version: z.string().max(versionTextMax) })

/** A folder as parts `files[]`, whose file names are paths in it, or a zip as the only part. */
const skillFiles = { name: 'files', bytesMax: skillBytesMax, filesMax: skillFilesMax } as const

/** How forms write a boolean. */
const FormBoolean = z.enum(['true', 'false']).transform((text) => text === 'true')

export const createSkill = operation({
  id: 'skills.create',
  method: 'POST',
  path: '/v1/skills',
  summary: 'Upload a skill, as a folder or as one zip; it becomes version 1.',
  auth: 'project_key',
  scope: 'skills.write',
  body: { kind: 'multipart', fields: z.strictObject({}), file: skillFiles },
  reply: Skill,
  faults: ['invalid_skill', 'file_too_large', 'invalid_multipart'],
  creates: true,
})

export const listSkills = operation({
  id: 'skills.list',
  method: 'GET',
  path: '/v1/skills',
  summary: 'List the skills of the project, newest first.',
  auth: 'project_key',
  scope: 'skills.read',
  query: pageQuery().extend({ order: Order }),
  reply: pageOf(Skill),
})

export const retrieveSkill = operation({
  id: 'skills.retrieve',
  method: 'GET',
  path: '/v1/skills/{skill_id}',
  summary: 'Read a skill; its name and description are those of the default version.',
  auth: 'project_key',
  scope: 'skills.read',
  params: skillParams,
  reply: Skill,
  faults: ['not_found'],
})

export const updateSkill = operation({
  id: 'skills.update',
  method: 'POST',
  path: '/v1/skills/{skill_id}',
  summary: 'Choose the default version of a skill.',
  auth: 'project_key',
  scope: 'skills.write',
  params: skillParams,
  body: z.strictObject({ default_version: z.string().min(1).max(versionTextMax) }),
  reply: Skill,
  faults: ['not_found'],
})

export const deleteSkill = operation({
  id: 'skills.delete',
  method: 'DELETE',
  path: '/v1/skills/{skill_id}',
  summary: 'Delete a skill with all its versions.',
  auth: 'project_key',
  scope: 'skills.write',
  params: skillParams,
  reply: z.strictObject({ id: SkillId, object: z.literal('skill.deleted'), deleted: z.literal(true) }),
  faults: ['not_found'],
})

export const retrieveSkillContent = operation({
  id: 'skills.content.retrieve',
  method: 'GET',
  path: '/v1/skills/{skill_id}/content',
  summary: 'Download the default version of a skill as a zip.',
  auth: 'project_key',
  scope: 'skills.read',
  params: skillParams,
  reply: 'binary',
  faults: ['not_found'],
})

export const createSkillVersion = operation({
  id: 'skills.versions.create',
  method: 'POST',
  path: '/v1/skills/{skill_id}/versions',
  summary: 'Upload the next version of a skill; it becomes the default one only when asked to.',
  auth: 'project_key',
  scope: 'skills.write',
  params: skillParams,
  body: { kind: 'multipart', fields: z.strictObject({ default: FormBoolean.optional() }), file: skillFiles },
  reply: SkillVersion,
  faults: ['not_found', 'invalid_skill', 'file_too_large', 'invalid_multipart'],
  creates: true,
})

export const listSkillVersions = operation({
  id: 'skills.versions.list',
  method: 'GET',
  path: '/v1/skills/{skill_id}/versions',
  summary: 'List the versions of a skill, newest first.',
  auth: 'project_key',
  scope: 'skills.read',
  params: skillParams,
  query: pageQuery().extend({ order: Order }),
  reply: pageOf(SkillVersion),
  faults: ['not_found'],
})

export const retrieveSkillVersion = operation({
  id: 'skills.versions.retrieve',
  method: 'GET',
  path: '/v1/skills/{skill_id}/versions/{version}',
  summary: 'Read a version of a skill, by its number or as latest.',
  auth: 'project_key',
  scope: 'skills.read',
  params: versionParams,
  reply: SkillVersion,
  faults: ['not_found'],
})

export const deleteSkillVersion = operation({
  id: 'skills.versions.delete',
  method: 'DELETE',
  path: '/v1/skills/{skill_id}/versions/{version}',
  summary: 'Delete a version of a skill. The default one goes last, and the skill with it.',
  auth: 'project_key',
  scope: 'skills.write',
  params: versionParams,
  reply: z.strictObject({
    id: SkillVersionId,
    object: z.literal('skill.version.deleted'),
    deleted: z.literal(true),
    version: z.string(),
  }),
  faults: ['not_found'],
})

export const retrieveSkillVersionContent = operation({
  id: 'skills.versions.content.retrieve',
  method: 'GET',
  path: '/v1/skills/{skill_id}/versions/{version}/content',
  summary: 'Download a version of a skill as a zip.',
  auth: 'project_key',
  scope: 'skills.read',
  params: versionParams,
  reply: 'binary',
  faults: ['not_found'],
})

export const skillOperations = [
  createSkill,
  listSkills,
  retrieveSkill,
  updateSkill,
  deleteSkill,
  retrieveSkillContent,
  createSkillVersion,
  listSkillVersions,
  retrieveSkillVersion,
  deleteSkillVersion,
  retrieveSkillVersionContent,
] as const
