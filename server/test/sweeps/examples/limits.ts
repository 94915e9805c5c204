import { createChatCompletion } from '@switchyard/contracts/chat-completions.ts'
import type { costOperations } from '@switchyard/contracts/organization/costs.ts'
import type { fineTuningOperations } from '@switchyard/contracts/fine-tuning.ts'
import type { limitsExplainOperations } from '@switchyard/contracts/organization/limits-explain.ts'
import { createPayment, type paymentOperations } from '@switchyard/contracts/organization/payments.ts'
import type { projectRateLimitOperations } from '@switchyard/contracts/organization/project-rate-limits.ts'
import { createProject } from '@switchyard/contracts/organization/projects.ts'
import {
  updateProjectSpendLimit,
  updateSpendLimit,
  type spendLimitOperations,
} from '@switchyard/contracts/organization/spend-limits.ts'
import type { usageTierOperations } from '@switchyard/contracts/organization/usage-tier.ts'
import type { usageOperations } from '@switchyard/contracts/organization/usage.ts'
import type { vectorStoreOperations } from '@switchyard/contracts/vector-stores.ts'
import { newId } from '#platform/std/ids.ts'
import type { MakeExample } from '../example.ts'
import { ask, make, type Place } from '../place.ts'
import { chatBody } from './inference.ts'

export const newPaymentBody = () => ({ amount: 5, currency: 'usd', reference: newId('invoice-') })
const newPayment = (at: Place) => make(at, createPayment, { body: newPaymentBody() })

/** The limit group of the models that the double answers for. */
export const doubleLimit = 'rl-double'
export const spendLimit = { threshold_amount: 100_000, currency: 'USD', interval: 'month' }

const newProject = async (at: Place) => ({
  project_id: (await make(at, createProject, { body: { name: 'Limited' } })).id,
})

const withSpendLimit: MakeExample = async (at) => {
  await make(at, updateSpendLimit, { body: spendLimit })
  return {}
}

const withProjectSpendLimit: MakeExample = async (at) => {
  const params = await newProject(at)
  await make(at, updateProjectSpendLimit, { params, body: spendLimit })
  return { params }
}

/** A day that has passed. */
const span = { start_time: '1790000000', end_time: '1790086400' }
const usage: MakeExample = async (at) => ({
  query: { ...span, group_by: ['project_id'], project_ids: [at.project.id] },
  references: ['query.project_ids.0'],
})

/** A request that the ledger has something of. */
const explained: MakeExample = async (at) => {
  const { headers } = await ask(at, createChatCompletion, { body: chatBody })
  return { query: { request_id: headers.get('x-request-id') ?? '' }, references: ['query.request_id'] }
}

type Id<Listed extends readonly { readonly id: string }[]> = Listed[number]['id']
type LimitsAdminId =
  | Id<typeof paymentOperations>
  | Id<typeof usageTierOperations>
  | Id<typeof projectRateLimitOperations>
  | Id<typeof spendLimitOperations>
  | Id<typeof usageOperations>
  | Id<typeof costOperations>
  | Id<typeof limitsExplainOperations>

export const limitsAdminExamples: Record<LimitsAdminId, MakeExample> = {
  'admin.organization.payments.create': async () => ({ body: newPaymentBody() }),
  'admin.organization.payments.list': async (at) => ({
    query: { after: (await newPayment(at)).id },
    references: ['query.after'],
  }),
  'admin.organization.usage_tier.retrieve': async () => ({}),
  'admin.organization.limits.explain': explained,

  'admin.organization.projects.rate_limits.list': async (at) => ({
    params: await newProject(at),
    query: { limit: '10' },
  }),
  'admin.organization.projects.rate_limits.update': async (at) => ({
    params: { ...(await newProject(at)), rate_limit_id: doubleLimit },
    body: { max_requests_per_1_minute: 100, max_audio_minutes_per_1_minute: null },
  }),

  'admin.organization.spend_limit.retrieve': withSpendLimit,
  'admin.organization.spend_limit.update': async () => ({ body: spendLimit }),
  'admin.organization.spend_limit.delete': withSpendLimit,
  'admin.organization.projects.spend_limit.retrieve': withProjectSpendLimit,
  'admin.organization.projects.spend_limit.update': async (at) => ({ params: await newProject(at), body: spendLimit }),
  'admin.organization.projects.spend_limit.delete': withProjectSpendLimit,

  'admin.organization.usage.completions': usage,
  'admin.organization.usage.decisions': usage,
  'admin.organization.usage.embeddings': usage,
  'admin.organization.usage.moderations': usage,
  'admin.organization.usage.images': usage,
  'admin.organization.usage.audio_speeches': usage,
  'admin.organization.usage.audio_transcriptions': usage,
  'admin.organization.usage.vector_stores': usage,
  'admin.organization.usage.code_interpreter_sessions': usage,
  'admin.organization.usage.file_search_calls': usage,
  'admin.organization.usage.web_search_calls': usage,
  'admin.organization.usage.costs': usage,
}

export const fineTuningExamples: Record<Id<typeof fineTuningOperations>, MakeExample> = {
  'fine_tuning.model_limits.list': async () => ({}),
}

const inVectorStore = () => ({ vector_store_id: newId('vs_') })

/** What they would be called with; they answer 501 so far. */
export const vectorStoreExamples: Record<Id<typeof vectorStoreOperations>, MakeExample> = {
  'vector_stores.files.create': async () => ({ params: inVectorStore(), body: { file_id: newId('file-') } }),
  'vector_stores.file_batches.create': async () => ({
    params: inVectorStore(),
    body: { files: [{ file_id: newId('file-') }] },
  }),
}
