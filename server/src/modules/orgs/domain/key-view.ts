import type { AdminApiKey } from '@switchyard/contracts/organization/admin-api-keys.ts'
import type { AdsApiKey } from '@switchyard/contracts/organization/ads-api-keys.ts'
import type { ProjectApiKey } from '@switchyard/contracts/organization/project-api-keys.ts'
import type { ServiceAccountKey } from '@switchyard/contracts/organization/service-accounts.ts'
import type { KeyId } from '@switchyard/contracts/ids.ts'
import { assert } from '#platform/std/assert.ts'
import type { KeyRow } from '../store/keys.ts'
import { seconds, secondsOrNull } from './seconds.ts'

function common(row: KeyRow) {
  return {
    id: row.id,
    name: row.name,
    redacted_value: row.redacted,
    scopes: row.scopes ?? [],
    created_at: seconds(row.created_at),
    last_used_at: secondsOrNull(row.last_used_at),
    expires_at: secondsOrNull(row.expires_at),
  }
}

function projectKeyOwner(row: KeyRow): ProjectApiKey['owner'] {
  if (row.service_account_id !== null) {
    assert(row.account_name !== null && row.account_role !== null, 'a service account has a name and a role')
    assert(row.account_created_at !== null, 'a service account was made at some time')
    const { service_account_id: id, account_name: name, account_role: role } = row
    return { type: 'service_account', service_account: { id, name, role, created_at: seconds(row.account_created_at) } }
  }
  if (row.user_id !== null) {
    assert(row.user_name !== null && row.user_email !== null, 'a user has a name and an address')
    assert(row.user_created_at !== null, 'a user was made at some time')
    const { user_id: id, user_name: name, user_email: email } = row
    // An owner of the organisation need not be in the project to act in it.
    const role = row.project_role ?? (row.org_role === 'owner' ? 'owner' : 'none')
    return { type: 'user', user: { id, name, email, role, created_at: seconds(row.user_created_at) } }
  }
  return {}
}

export function projectApiKeyView(row: KeyRow): ProjectApiKey {
  return {
    ...common(row),
    object: 'organization.project.api_key',
    owner: projectKeyOwner(row),
    owner_project_access: row.owner_access ? 'active' : 'inactive',
  }
}

export function adminApiKeyView(row: KeyRow): AdminApiKey {
  return { ...common(row), object: 'organization.admin_api_key', owner: adminKeyOwner(row) }
}

function adminKeyOwner(row: KeyRow): AdminApiKey['owner'] {
  if (row.user_id !== null && row.user_name !== null && row.user_created_at !== null) {
    const created = seconds(row.user_created_at)
    const { user_id: id, user_name: name } = row
    return { type: 'user', object: 'organization.user', id, name, created_at: created, role: 'owner' }
  }
  return {
    type: 'organization',
    object: 'organization',
    id: row.org_id,
    name: row.org_name,
    created_at: seconds(row.org_created_at),
    role: 'owner',
  }
}

export function adsApiKeyView(row: KeyRow): AdsApiKey {
  assert(row.ad_account_id !== null, 'an ads key has an ad account')
  return {
    ...common(row),
    scopes: (row.scopes ?? []) as AdsApiKey['scopes'],
    object: 'organization.ads_api_key',
    ad_account_id: row.ad_account_id,
  }
}

export function serviceAccountKeyView(row: KeyRow, value: string): ServiceAccountKey {
  const { id, name, created_at, expires_at } = common(row)
  return { id, object: 'organization.project.service_account.api_key', name, value, created_at, expires_at }
}

export function replacedKeyView({ id, expiresAt }: { id: KeyId; expiresAt: Date }) {
  return { id, expires_at: seconds(expiresAt) }
}
