import { createSkill, createSkillVersion, type skillOperations } from '@switchyard/contracts/skills.ts'
import { folderForm } from '#modules/containers/testing/skill-forms.ts'
import type { MakeExample } from '../example.ts'
import { make, type Place } from '../place.ts'

export const newSkill = (at: Place) => make(at, createSkill, { body: folderForm() })

export const newSkillVersion = async (at: Place) =>
  make(at, createSkillVersion, { params: { skill_id: (await newSkill(at)).id }, body: folderForm() })

const skillParams: MakeExample = async (at) => ({ params: { skill_id: (await newSkill(at)).id } })

const versionParams: MakeExample = async (at) => {
  const { skill_id, version } = await newSkillVersion(at)
  return { params: { skill_id, version } }
}

export const skillExamples: Record<(typeof skillOperations)[number]['id'], MakeExample> = {
  'skills.create': async () => ({ body: folderForm() }),
  'skills.list': async (at) => ({ query: { after: (await newSkill(at)).id }, references: ['query.after'] }),
  'skills.retrieve': skillParams,
  'skills.update': async (at) => ({ ...(await skillParams(at)), body: { default_version: '1' } }),
  'skills.delete': skillParams,
  'skills.content.retrieve': skillParams,
  'skills.versions.create': async (at) => ({
    ...(await skillParams(at)),
    body: folderForm(undefined, { default: 'true' }),
  }),
  'skills.versions.list': async (at) => {
    const { id, skill_id } = await newSkillVersion(at)
    return { params: { skill_id }, query: { after: id }, references: ['query.after'] }
  },
  'skills.versions.retrieve': versionParams,
  'skills.versions.delete': versionParams,
  'skills.versions.content.retrieve': versionParams,
}
