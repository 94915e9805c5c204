import { z } from 'zod'
import { AdAccountId, KeyId } from '../ids.ts'
import { operation } from '../operation.ts'
import { pageOf, pageQuery } from '../page.ts'
import { Name, ReplacedKey, RotateKey, timestamp } from './shared.ts'

export const AdsScope = z.enum(['ads.read', 'ads.write', 'insights.read'])

export const AdsApiKey = z.strictObject({
  id: KeyId,
  object: z.literal('organization.ads_api_key'),
  name: z.string(),
  redacted_value: z.string(),
  ad_account_id: AdAccountId,
  /** Empty: no restriction. */
  scopes: z.array(AdsScope),
  created_at: timestamp,
  last_used_at: timestamp.nullable(),
  expires_at: timestamp.nullable(),
})
export type AdsApiKey = z.infer<typeof AdsApiKey>

const keyParams = z.strictObject({ key_id: KeyId })

export const listAdsApiKeys = operation({
  id: 'admin.organization.ads_api_keys.list',
  method: 'GET',
  path: '/v1/organization/ads_api_keys',
  summary: 'List the ads keys, newest first.',
  auth: 'admin_key',
  scope: 'organization.ads_api_keys.read',
  query: pageQuery(),
  reply: pageOf(AdsApiKey),
})

export const createAdsApiKey = operation({
  id: 'admin.organization.ads_api_keys.create',
  method: 'POST',
  path: '/v1/organization/ads_api_keys',
  summary: 'Mint a key for one ad account, or for a new one when none is named; its value is shown once.',
  auth: 'admin_key',
  scope: 'organization.ads_api_keys.write',
  body: z.strictObject({
    name: Name,
    scopes: z.array(AdsScope).max(AdsScope.options.length).optional(),
    ad_account_id: AdAccountId.optional(),
  }),
  reply: AdsApiKey.extend({ value: z.string() }),
  faults: ['not_found'],
  creates: true,
  showsSecret: true,
})

export const retrieveAdsApiKey = operation({
  id: 'admin.organization.ads_api_keys.retrieve',
  method: 'GET',
  path: '/v1/organization/ads_api_keys/{key_id}',
  summary: 'Read what is known about an ads key.',
  auth: 'admin_key',
  scope: 'organization.ads_api_keys.read',
  params: keyParams,
  reply: AdsApiKey,
  faults: ['not_found'],
})

export const deleteAdsApiKey = operation({
  id: 'admin.organization.ads_api_keys.delete',
  method: 'DELETE',
  path: '/v1/organization/ads_api_keys/{key_id}',
  summary: 'Revoke an ads key; it stops working at once.',
  auth: 'admin_key',
  scope: 'organization.ads_api_keys.write',
  params: keyParams,
  reply: z.strictObject({
    id: KeyId,
    object: z.literal('organization.ads_api_key.deleted'),
    deleted: z.literal(true),
  }),
  faults: ['not_found'],
})

export const rotateAdsApiKey = operation({
  id: 'admin.organization.ads_api_keys.rotate',
  method: 'POST',
  path: '/v1/organization/ads_api_keys/{key_id}/rotate',
  summary: 'Replace an ads key by a new one of the same ad account, scopes and lifetime.',
  auth: 'admin_key',
  scope: 'organization.ads_api_keys.write',
  params: keyParams,
  body: RotateKey,
  bodyOptional: true,
  reply: AdsApiKey.extend({ value: z.string(), replaces: ReplacedKey }),
  faults: ['not_found', 'invalid_state_transition'],
  creates: true,
  showsSecret: true,
})

export const adsApiKeyOperations = [
  listAdsApiKeys,
  createAdsApiKey,
  retrieveAdsApiKey,
  deleteAdsApiKey,
  rotateAdsApiKey,
] as const
