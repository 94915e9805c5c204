import { sql } from 'kysely'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mintKeyText } from '../domain/key-text.ts'
import { orgsOnly } from '../testing/orgs-database.ts'

test('each kind of key is turned into its holder', async (t) => {
  const { orgs, orgId, projectId, adminKey } = await orgsOnly(t)
  const project = await orgs.mintProjectKey({ orgId, projectId, name: 'p', scopes: ['files.read'] })
  const ads = await orgs.mintAdsKey({ orgId, name: 'a' })
  assert.deepEqual(await orgs.authenticate(project.key), {
    scope: { kind: 'project_key', keyId: project.keyId, orgId, projectId },
    granted: new Set(['files.read']),
  })
  const { adAccountId } = ads
  assert.deepEqual(await orgs.authenticate(ads.key), {
    scope: { kind: 'ads_key', keyId: ads.keyId, orgId, adAccountId },
    granted: null,
  })
  const admin = await orgs.authenticate(adminKey)
  assert.deepEqual([admin?.scope.kind, admin?.scope.orgId, admin?.granted], ['admin_key', orgId, null])
})

test('a key that was never minted, and one that was revoked, open nothing', async (t) => {
  const { db, orgs, orgId, projectId } = await orgsOnly(t)
  assert.equal(await orgs.authenticate(mintKeyText('project', 't1').value), null)
  assert.equal(await orgs.authenticate('sk-proj-nonsense'), null)
  const { key, keyId } = await orgs.mintProjectKey({ orgId, projectId, name: 'p' })
  assert.ok((await orgs.authenticate(key)) !== null)
  await sql`update orgs.api_key set revoked_at = clock_timestamp() where id = ${keyId}`.execute(db.kysely)
  assert.equal(await orgs.authenticate(key), null)
})

test('a project is found by its id alone, archived or not', async (t) => {
  const { orgs, orgId, projectId } = await orgsOnly(t)
  assert.deepEqual(await orgs.findProject(projectId), { id: projectId, orgId, name: 'Project', archived: false })
  assert.equal(await orgs.findProject(`${projectId}x` as typeof projectId), null)
})

test('the lookup of a key reads a handful of rows by index, however many keys there are', async (t) => {
  const { db, orgs, orgId, projectId } = await orgsOnly(t)
  const { key } = await orgs.mintProjectKey({ orgId, projectId, name: 'p' })
  await sql`insert into orgs.api_key (id, org_id, project_id, kind, hash, name, redacted)
    select 'key_' || n, ${orgId}, ${projectId}, 'project', sha256(n::text::bytea), 'many', 'x'
      from generate_series(1, 5000) n`.execute(db.kysely)
  await sql`analyze orgs.api_key`.execute(db.kysely)
  const { rows } = await sql<{ 'QUERY PLAN': string }>`explain
    select id from orgs.key_standing where hash = sha256(${key}::bytea) and in_force`.execute(db.kysely)
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
  assert.match(plan, /Index Scan using api_key_hash_key/)
  assert.doesNotMatch(plan, /Seq Scan on api_key/)
})
