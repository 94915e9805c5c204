import type { projectApiKeyOperations } from '@switchyard/contracts/organization/project-api-keys.ts'
import { rotateProjectApiKey } from '@switchyard/contracts/organization/project-api-keys.ts'
import type { projectUserOperations } from '@switchyard/contracts/organization/project-users.ts'
import { archiveProject, type projectOperations } from '@switchyard/contracts/organization/projects.ts'
import type { serviceAccountOperations } from '@switchyard/contracts/organization/service-accounts.ts'
import type { Example } from '../example.ts'
import { newProject, newServiceAccount } from '../examples/organization.ts'
import { newMember } from '../examples/people.ts'
import { endKey } from '../minted-keys.ts'
import { make, type Place } from '../place.ts'
import type { FaultCase, FaultCases } from './fault-case.ts'

type Params = Record<string, string>

const noProject: Params = { project_id: 'proj_c0_none' }
const inProject = (at: Place): Params => ({ project_id: at.project.id })
const onKey = async (at: Place) => ({ ...inProject(at), key_id: (await newServiceAccount(at)).keyId })
const onAccount = async (at: Place) => ({ ...inProject(at), service_account_id: (await newServiceAccount(at)).id })
const onUser = async (at: Place) => ({ ...inProject(at), user_id: (await newMember(at, { inProject: true })).id })

const missing =
  (params: (at: Place) => Params, body?: Example['body']): FaultCase =>
  async (at) => ({ params: params(at), ...(body && { body }), param: null })

/** The same call inside a project that was archived after everything in it had been made. */
const archived =
  (paramsIn: (at: Place) => Promise<Params>, body?: Example['body']): FaultCase =>
  async (at) => {
    const { id } = await newProject(at)
    const params = await paramsIn({ ...at, project: { id, key: '' } })
    await make(at, archiveProject, { params: { project_id: id } })
    return { params, ...(body && { body }), param: null }
  }

const onProject = async (at: Place) => inProject(at)

export const projectFaults: FaultCases<typeof projectOperations> = {
  'admin.organization.projects.create': {
    unsupported_value: async () => ({ body: { name: 'x', residency: 'JP_STORAGE' }, param: 'residency' }),
    mutually_exclusive_parameters: async () => ({
      body: { name: 'x', residency: 'GLOBAL', geography: 'GLOBAL' },
      param: 'geography',
    }),
  },
  'admin.organization.projects.retrieve': { not_found: missing(() => noProject) },
  'admin.organization.projects.update': {
    not_found: missing(() => noProject, { name: 'x' }),
    invalid_state_transition: archived(onProject, { name: 'x' }),
    unsupported_value: async (at) => ({
      params: inProject(at),
      body: { external_key_id: 'key' },
      param: 'external_key_id',
    }),
  },
  'admin.organization.projects.archive': { not_found: missing(() => noProject) },
}

const noKey = (at: Place) => ({ ...inProject(at), key_id: 'key_none' })

export const projectApiKeyFaults: FaultCases<typeof projectApiKeyOperations> = {
  'admin.organization.projects.api_keys.list': { not_found: missing(() => noProject) },
  'admin.organization.projects.api_keys.retrieve': { not_found: missing(noKey) },
  'admin.organization.projects.api_keys.update': {
    not_found: missing(noKey, { scopes: [] }),
    async invalid_state_transition(at) {
      const params = await onKey(at)
      await endKey(at, params.key_id, 'expires_at')
      return { params, body: { expires_in_seconds: 60 }, param: null }
    },
    missing_required_parameter: async (at) => ({ params: await onKey(at), body: {}, param: 'scopes' }),
    invalid_value: async (at) => ({ params: await onKey(at), body: { scopes: ['fun'] }, param: 'scopes[0]' }),
  },
  'admin.organization.projects.api_keys.delete': {
    not_found: missing(noKey),
    invalid_state_transition: archived(onKey),
  },
  'admin.organization.projects.api_keys.rotate': {
    not_found: missing(noKey),
    async invalid_state_transition(at) {
      const params = await onKey(at)
      await make(at, rotateProjectApiKey, { params, body: { overlap_seconds: 60 } })
      return { params, param: null }
    },
  },
}

const noAccount = (at: Place) => ({ ...inProject(at), service_account_id: 'svcacct_none' })

export const serviceAccountFaults: FaultCases<typeof serviceAccountOperations> = {
  'admin.organization.projects.service_accounts.list': { not_found: missing(() => noProject) },
  'admin.organization.projects.service_accounts.create': {
    not_found: missing(() => noProject, { name: 'x' }),
    invalid_state_transition: archived(onProject, { name: 'x' }),
    mutually_exclusive_parameters: async (at) => ({
      params: inProject(at),
      body: { name: 'x', create_service_account_only: true, expires_in_seconds: 60 },
      param: 'expires_in_seconds',
    }),
  },
  'admin.organization.projects.service_accounts.retrieve': { not_found: missing(noAccount) },
  'admin.organization.projects.service_accounts.update': {
    not_found: missing(noAccount, { name: 'x' }),
    invalid_state_transition: archived(onAccount, { name: 'x' }),
  },
  'admin.organization.projects.service_accounts.delete': {
    not_found: missing(noAccount),
    invalid_state_transition: archived(onAccount),
  },
  'admin.organization.projects.service_accounts.api_keys.create': {
    not_found: missing(noAccount),
    invalid_state_transition: archived(onAccount),
    invalid_value: async (at) => ({ params: await onAccount(at), body: { scopes: ['fun'] }, param: 'scopes[0]' }),
  },
}

const noUser = (at: Place) => ({ ...inProject(at), user_id: 'user-none' })

export const projectUserFaults: FaultCases<typeof projectUserOperations> = {
  'admin.organization.projects.users.list': { not_found: missing(() => noProject) },
  'admin.organization.projects.users.create': {
    not_found: async (at) => ({
      params: inProject(at),
      body: { role: 'member', user_id: 'user-none' },
      param: 'user_id',
    }),
    invalid_state_transition: archived(onProject, { role: 'member', user_id: 'user-none' }),
    already_exists: async (at) => {
      const { user_id: userId } = await onUser(at)
      return { params: inProject(at), body: { role: 'member', user_id: userId }, param: null }
    },
    missing_required_parameter: async (at) => ({ params: inProject(at), body: { role: 'member' }, param: 'user_id' }),
    mutually_exclusive_parameters: async (at) => ({
      params: inProject(at),
      body: { role: 'member', user_id: 'user-none', email: 'a@example.com' },
      param: 'email',
    }),
  },
  'admin.organization.projects.users.retrieve': { not_found: missing(noUser) },
  'admin.organization.projects.users.update': {
    not_found: missing(noUser, { role: 'owner' }),
    invalid_state_transition: archived(onUser, { role: 'owner' }),
  },
  'admin.organization.projects.users.delete': {
    not_found: missing(noUser),
    invalid_state_transition: archived(onUser),
  },
}
