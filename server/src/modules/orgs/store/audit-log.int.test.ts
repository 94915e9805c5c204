import { sql } from 'kysely'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { orgsOnly } from '../testing/orgs-database.ts'

test('the database itself refuses to change or remove an entry', async (t) => {
  const { db, orgId } = await orgsOnly(t)
  for (const change of [
    sql`update orgs.audit_log set type = 'x' where org_id = ${orgId}`,
    sql`delete from orgs.audit_log`,
    sql`truncate orgs.audit_log`,
  ]) {
    await assert.rejects(change.execute(db.kysely), /append-only/)
  }
})

test('a page deep in a long log is found by index', async (t) => {
  const { db, orgId } = await orgsOnly(t)
  await sql`insert into orgs.audit_log (id, org_id, type, effective_at, actor_kind, resource_id, details)
    select 'audit_log-' || n, ${orgId}, 'project.updated', now() - n * interval '1 minute', 'operator', 'r', '{}'
      from generate_series(1, 5000) n`.execute(db.kysely)
  await sql`analyze orgs.audit_log`.execute(db.kysely)
  const { rows } = await sql<{ 'QUERY PLAN': string }>`explain
    select id from orgs.audit_log a where a.org_id = ${orgId}
      and (a.effective_at, a.id) < (select effective_at, id from orgs.audit_log where id = 'audit_log-4000')
    order by a.effective_at desc, a.id desc limit 21`.execute(db.kysely)
  const plan = rows.map((row) => row['QUERY PLAN']).join('\n')
  assert.match(plan, /Index (Only )?Scan Backward using audit_log_of_org/)
  assert.doesNotMatch(plan, /Sort/)
})
