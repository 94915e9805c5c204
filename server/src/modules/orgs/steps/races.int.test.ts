import type { KeyId, ServiceAccountId, UserId } from '@switchyard/contracts/ids.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { own } from '#platform/db/tx.ts'
import { Fault } from '#platform/errors/fault.ts'
import { newId } from '#platform/std/ids.ts'
import { operator } from '../domain/actor.ts'
import { adminKeys, findKey, keysOfProject, listKeys, revokeKeysOf } from '../store/keys.ts'
import { deleteMember, ensureUser, hasOwner, insertMember, setMemberRole } from '../store/members.ts'
import { lockOrganization } from '../store/organizations.ts'
import { insertProjectMember } from '../store/project-members.ts'
import { archiveProject, findProject, renameProject } from '../store/projects.ts'
import { endServiceAccount, holdServiceAccount, insertServiceAccount } from '../store/service-accounts.ts'
import type { OrgsTables } from '../store/tables.ts'
import { whileHolding } from '../testing/held.ts'
import { orgsOnly, type OrgsOnly } from '../testing/orgs-database.ts'
import { endKey } from './end-key.ts'
import { holdOpenProject } from './in-project.ts'
import { keepAnAdminKey, keepAnOwner } from './keep-in-charge.ts'
import { mintKey } from './mint-key.ts'
import { rotateKey } from './rotate-key.ts'

const isFault = (settled: PromiseSettledResult<unknown>, code: string) =>
  settled.status === 'rejected' && settled.reason instanceof Fault && settled.reason.code === code

async function newOwner(at: OrgsOnly): Promise<UserId> {
  return await at.db.tx(async (tx) => {
    const id = newId<UserId>('user-')
    await ensureUser(tx, { id, email: `${id}@example.com`, name: 'Owner' })
    await insertMember(tx, { org_id: at.orgId, user_id: id, role: 'owner' })
    return id
  })
}

const newAccount = (at: OrgsOnly) =>
  at.db.tx((tx) =>
    insertServiceAccount(tx, {
      id: newId<ServiceAccountId>('svcacct_'),
      org_id: at.orgId,
      project_id: at.projectId,
      name: 'robot',
      role: 'member',
    }),
  )

test('a key asked for while its project is being archived is not made', async (t) => {
  const at = await orgsOnly(t)
  const { orgId, projectId } = at
  const settled = await whileHolding(
    at.db,
    async (tx) => void (await archiveProject(tx, orgId, projectId)),
    () => at.orgs.mintProjectKey({ orgId, projectId, name: 'late' }),
  )
  assert.ok(isFault(settled, 'invalid_state_transition'))
  assert.deepEqual(await listKeys(at.db.kysely, keysOfProject(orgId, projectId), { limit: 10 }), [])
})

test('archiving waits for a key that is being made, and the key does not work afterwards', async (t) => {
  const at = await orgsOnly(t)
  const { orgId, projectId } = at
  let value = ''
  const settled = await whileHolding(
    at.db,
    async (tx) => {
      await holdOpenProject(tx, orgId, projectId)
      const wanted = { kind: 'project', orgId, projectId, name: 'early', scopes: null, lifetimeSeconds: null } as const
      value = (await mintKey(tx, 't1', operator, wanted)).value
    },
    () => at.db.tx((tx) => archiveProject(tx, orgId, projectId)),
  )
  assert.equal(settled.status, 'fulfilled')
  assert.equal(await at.orgs.authenticate(value), null)
})

test('of many archivings one happens, and a rename after it does nothing', async (t) => {
  const at = await orgsOnly(t)
  const archive = () => at.db.tx((tx) => archiveProject(tx, at.orgId, at.projectId))
  const results = await Promise.all(Array.from({ length: 5 }, archive))
  assert.equal(results.filter((row) => row !== null).length, 1)
  assert.equal(await at.db.tx((tx) => renameProject(tx, at.orgId, at.projectId, 'x')), null)
  assert.equal((await findProject(at.db.kysely, at.orgId, at.projectId))?.name, 'Project')
})

test('two owners who demote or remove each other leave one owner', async (t) => {
  const at = await orgsOnly(t)
  const { orgId } = at
  const [one, two] = [await newOwner(at), await newOwner(at)]
  const demote = (id: UserId) =>
    at.db.tx(async (tx) => {
      await lockOrganization(tx, orgId)
      await setMemberRole(tx, orgId, id, 'reader')
      await keepAnOwner(tx, orgId)
    })
  const settled = await whileHolding(
    at.db,
    async (tx) => {
      await lockOrganization(tx, orgId)
      await deleteMember(tx, orgId, one)
      await keepAnOwner(tx, orgId)
    },
    () => demote(two),
  )
  assert.ok(isFault(settled, 'invalid_state_transition'))
  assert.equal(await hasOwner(at.db.kysely, orgId), true)
})

test('two admin keys that delete each other leave one in force', async (t) => {
  const at = await orgsOnly(t)
  const { orgId } = at
  const { keyId: second } = await at.orgs.mintAdminKey({ orgId, name: 'second' })
  const [, first] = await listKeys(at.db.kysely, adminKeys(orgId), { limit: 10 })
  assert.ok(first !== undefined)
  const remove = (id: KeyId) => async (tx: Parameters<typeof endKey>[0]) => {
    await lockOrganization(tx, orgId)
    await endKey(tx, operator, adminKeys(orgId), id)
    await keepAnAdminKey(tx, orgId)
  }
  const settled = await whileHolding(at.db, remove(second), () => at.db.tx(remove(first.id)))
  assert.ok(isFault(settled, 'invalid_state_transition'))
  assert.ok((await at.orgs.authenticate(at.adminKey)) !== null)
})

test('a key made while its service account is being deleted does not come to be', async (t) => {
  const at = await orgsOnly(t)
  const account = await newAccount(at)
  const settled = await whileHolding(
    at.db,
    async (tx) => {
      await endServiceAccount(tx, at.projectId, account.id)
      await revokeKeysOf(tx, at.orgId, { serviceAccountId: account.id })
    },
    () => at.db.tx((tx) => holdServiceAccount(tx, at.projectId, account.id)),
  )
  assert.deepEqual(settled, { status: 'fulfilled', value: null })
})

test('deleting a service account also ends the key that was being made for it', async (t) => {
  const at = await orgsOnly(t)
  const { orgId, projectId } = at
  const account = await newAccount(at)
  let value = ''
  const settled = await whileHolding(
    at.db,
    async (tx) => {
      await holdServiceAccount(tx, projectId, account.id)
      value = (
        await mintKey(tx, 't1', operator, {
          kind: 'service_account',
          orgId,
          projectId,
          serviceAccountId: account.id,
          name: 'early',
          scopes: null,
          lifetimeSeconds: null,
        })
      ).value
    },
    () =>
      at.db.tx(async (tx) => {
        await endServiceAccount(tx, projectId, account.id)
        return await revokeKeysOf(tx, orgId, { serviceAccountId: account.id })
      }),
  )
  assert.deepEqual(settled, { status: 'fulfilled', value: 1 })
  assert.equal(await at.orgs.authenticate(value), null)
})

test('of two rotations at once one succeeds, and no key of the other is left', async (t) => {
  const at = await orgsOnly(t)
  const { orgId, projectId } = at
  const { keyId } = await at.orgs.mintProjectKey({ orgId, projectId, name: 'old' })
  const place = keysOfProject(orgId, projectId)
  const rotate = () => at.db.tx((tx) => rotateKey(tx, 't1', operator, { place, id: keyId, overlapSeconds: 60 }))
  const settled = await Promise.allSettled([rotate(), rotate(), rotate()])
  assert.equal(settled.filter(({ status }) => status === 'fulfilled').length, 1)
  assert.equal(settled.filter((one) => isFault(one, 'invalid_state_transition')).length, 2)
  assert.equal((await listKeys(at.db.kysely, place, { limit: 10 })).length, 2)
})

test('a key that is revoked while it is being rotated leaves no successor', async (t) => {
  const at = await orgsOnly(t)
  const { orgId, projectId } = at
  const { keyId } = await at.orgs.mintProjectKey({ orgId, projectId, name: 'old' })
  const place = keysOfProject(orgId, projectId)
  const settled = await whileHolding(
    at.db,
    (tx) => endKey(tx, operator, place, keyId),
    () => at.db.tx((tx) => rotateKey(tx, 't1', operator, { place, id: keyId, overlapSeconds: 60 })),
  )
  assert.ok(isFault(settled, 'not_found'))
  assert.deepEqual(await listKeys(at.db.kysely, place, { limit: 10 }), [])
})

test('nobody is added to a project while they are being taken out of the organisation', async (t) => {
  const at = await orgsOnly(t)
  const id = await newOwner(at)
  const settled = await whileHolding(
    at.db,
    async (tx) => void (await deleteMember(tx, at.orgId, id)),
    () =>
      at.db.tx((tx) =>
        insertProjectMember(tx, { project_id: at.projectId, user_id: id, org_id: at.orgId, role: 'member' }),
      ),
  )
  assert.equal(settled.status, 'rejected')
})

test('a refused change leaves no trace in the audit log', async (t) => {
  const at = await orgsOnly(t)
  const { orgId } = at
  const [only] = await listKeys(at.db.kysely, adminKeys(orgId), { limit: 10 })
  assert.ok(only !== undefined)
  const count = async () =>
    (await at.db.kysely.selectFrom('orgs.audit_log').select('id').where('org_id', '=', orgId).execute()).length
  const before = await count()
  await assert.rejects(
    at.db.tx(async (tx) => {
      await endKey(tx, operator, adminKeys(orgId), only.id)
      await keepAnAdminKey(tx, orgId)
    }),
  )
  assert.equal(await count(), before)
  const still = await at.db.tx((tx) => findKey(own<OrgsTables>(tx), adminKeys(orgId), only.id))
  assert.ok(still !== null)
})
