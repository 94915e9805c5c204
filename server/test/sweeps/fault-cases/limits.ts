import type { limitsExplainOperations } from '@switchyard/contracts/organization/limits-explain.ts'
import { createPayment, type paymentOperations } from '@switchyard/contracts/organization/payments.ts'
import type { projectRateLimitOperations } from '@switchyard/contracts/organization/project-rate-limits.ts'
import { archiveProject } from '@switchyard/contracts/organization/projects.ts'
import type { spendLimitOperations } from '@switchyard/contracts/organization/spend-limits.ts'
import type { vectorStoreOperations } from '@switchyard/contracts/vector-stores.ts'
import { doubleLimit, newPaymentBody, spendLimit, vectorStoreExamples } from '../examples/limits.ts'
import { newProject } from '../examples/organization.ts'
import { make, type Place } from '../place.ts'
import type { FaultCase, FaultCases } from './fault-case.ts'
import { emptyPlace } from './organization.ts'

export const paymentFaults: FaultCases<typeof paymentOperations> = {
  'admin.organization.payments.create': {
    async already_exists(at) {
      const body = newPaymentBody()
      await make(at, createPayment, { body })
      return { body: { ...body, amount: 6 }, param: 'reference' }
    },
  },
}

async function archived(at: Place): Promise<{ project_id: string }> {
  const { id } = await newProject(at)
  await make(at, archiveProject, { params: { project_id: id } })
  return { project_id: id }
}

const inProject = (at: Place) => ({ project_id: at.project.id })
const noProject = { project_id: 'proj_c0_none' }
const lower = { max_requests_per_1_minute: 10 }

export const projectRateLimitFaults: FaultCases<typeof projectRateLimitOperations> = {
  'admin.organization.projects.rate_limits.list': {
    not_found: async () => ({ params: noProject, param: null }),
    mutually_exclusive_parameters: async (at) => ({
      params: inProject(at),
      query: { after: doubleLimit, before: doubleLimit },
      param: 'before',
    }),
  },
  'admin.organization.projects.rate_limits.update': {
    not_found: async (at) => ({
      params: { ...inProject(at), rate_limit_id: 'rl-none' },
      body: lower,
      param: null,
    }),
    invalid_state_transition: async (at) => ({
      params: { ...(await archived(at)), rate_limit_id: doubleLimit },
      body: lower,
      param: null,
    }),
    invalid_value: async (at) => ({
      params: { ...inProject(at), rate_limit_id: doubleLimit },
      body: { max_audio_megabytes_per_1_minute: 1, max_audio_minutes_per_1_minute: 2 },
      param: 'max_audio_minutes_per_1_minute',
    }),
  },
}

const unset: FaultCase = async (at) => ({ key: (await emptyPlace(at)).org.adminKey, param: null })
const unsetInProject: FaultCase = async (at) => ({ params: { project_id: (await newProject(at)).id }, param: null })

export const spendLimitFaults: FaultCases<typeof spendLimitOperations> = {
  'admin.organization.spend_limit.retrieve': { not_found: unset },
  'admin.organization.spend_limit.delete': { not_found: unset },
  'admin.organization.projects.spend_limit.retrieve': { not_found: unsetInProject },
  'admin.organization.projects.spend_limit.update': {
    not_found: async () => ({ params: noProject, body: spendLimit, param: null }),
    invalid_state_transition: async (at) => ({ params: await archived(at), body: spendLimit, param: null }),
  },
  'admin.organization.projects.spend_limit.delete': { not_found: unsetInProject },
}

export const limitsExplainFaults: FaultCases<typeof limitsExplainOperations> = {
  'admin.organization.limits.explain': {
    not_found: async () => ({ query: { request_id: 'req_none' }, param: 'request_id' }),
  },
}

const counted = (id: keyof typeof vectorStoreExamples): { not_implemented: FaultCase } => ({
  not_implemented: async (at) => ({ ...(await vectorStoreExamples[id](at)), param: null }),
})

export const vectorStoreFaults: FaultCases<typeof vectorStoreOperations> = {
  'vector_stores.files.create': counted('vector_stores.files.create'),
  'vector_stores.file_batches.create': counted('vector_stores.file_batches.create'),
}
