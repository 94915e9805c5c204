import type { skillOperations } from '@switchyard/contracts/skills.ts'
import { folderForm } from '#modules/containers/testing/skill-forms.ts'
import { newSkill } from '../examples/skills.ts'
import type { FaultCase, FaultCases } from './fault-case.ts'

const noSkill: FaultCase = async () => ({ params: { skill_id: 'skill_none' }, param: 'skill_id' })
const noVersion: FaultCase = async (at) => ({
  params: { skill_id: (await newSkill(at)).id, version: '7' },
  param: 'version',
})

const huge = {
  headers: { 'content-type': 'multipart/form-data; boundary=b', 'content-length': String(10 * 1024 ** 3) },
  chunks: [],
}

const noSkillForm = () => folderForm({ 'readme.md': 'x' })
const tooManyFiles = () => folderForm(Object.fromEntries(Array.from({ length: 501 }, (_, index) => [`f${index}`, 'x'])))

export const skillFaults: FaultCases<typeof skillOperations> = {
  'skills.create': {
    invalid_skill: async () => ({ body: noSkillForm(), param: 'files' }),
    file_too_large: async () => ({ raw: huge, param: null }),
    invalid_multipart: async () => ({ body: tooManyFiles(), param: 'files' }),
  },
  'skills.retrieve': { not_found: noSkill },
  'skills.update': { not_found: async (at) => ({ ...(await noSkill(at)), body: { default_version: '1' } }) },
  'skills.delete': { not_found: noSkill },
  'skills.content.retrieve': { not_found: noSkill },
  'skills.versions.create': {
    not_found: async (at) => ({ ...(await noSkill(at)), body: folderForm() }),
    invalid_skill: async (at) => ({
      params: { skill_id: (await newSkill(at)).id },
      body: noSkillForm(),
      param: 'files',
    }),
    file_too_large: async (at) => ({ params: { skill_id: (await newSkill(at)).id }, raw: huge, param: null }),
    invalid_multipart: async (at) => ({
      params: { skill_id: (await newSkill(at)).id },
      body: tooManyFiles(),
      param: 'files',
    }),
  },
  'skills.versions.list': { not_found: noSkill },
  'skills.versions.retrieve': { not_found: noVersion },
  'skills.versions.delete': { not_found: noVersion },
  'skills.versions.content.retrieve': { not_found: noVersion },
}
