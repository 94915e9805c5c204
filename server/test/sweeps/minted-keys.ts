import assert from 'node:assert/strict'
import type { Auth } from '@switchyard/contracts/operation.ts'
import { createAdminApiKey } from '@switchyard/contracts/organization/admin-api-keys.ts'
import { createAdsApiKey } from '@switchyard/contracts/organization/ads-api-keys.ts'
import { createServiceAccountKey } from '@switchyard/contracts/organization/service-accounts.ts'
import { sql } from 'kysely'
import { newServiceAccount } from './examples/organization.ts'
import { make, type Place } from './place.ts'

export interface MintedKey {
  readonly id: string
  readonly value: string
}

type ServiceAccount = Awaited<ReturnType<typeof newServiceAccount>>

const accounts = new WeakMap<object, Promise<ServiceAccount>>()

/** One for all keys of a project: whose a key is, is not what tells them apart. */
function accountOf(at: Place): Promise<ServiceAccount> {
  const made = accounts.get(at.project) ?? newServiceAccount(at)
  accounts.set(at.project, made)
  return made
}

/** A fresh key of a kind, restricted to the scopes given; none means no restriction. */
export async function mintKey(at: Place, auth: Auth, scopes: readonly string[] = []): Promise<MintedKey> {
  const body = { name: 'minted', scopes }
  switch (auth) {
    case 'project_key': {
      const params = { project_id: at.project.id, service_account_id: (await accountOf(at)).id }
      return await make(at, createServiceAccountKey, { params, body })
    }
    case 'admin_key':
      return await make(at, createAdminApiKey, { body })
    case 'ads_key':
      return await make(at, createAdsApiKey, { body })
  }
}

/** Ends a key as revoking it, or the passing of its time, would. */
export async function endKey(at: Place, id: string, how: 'revoked_at' | 'expires_at'): Promise<void> {
  const { numAffectedRows } = await sql`
    update orgs.api_key set ${sql.raw(how)} = clock_timestamp() where id = ${id}`.execute(at.app.db.kysely)
  assert.equal(numAffectedRows, 1n)
}
