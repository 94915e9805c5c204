import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { createWebhookEndpoint } from '@switchyard/contracts/webhooks.ts'
import { createSealer } from '#platform/secrets/seal.ts'
import { parseSealKeys } from '#platform/secrets/keys.ts'
import { randomBytes } from 'node:crypto'
import { testApp } from '../../../../test/test-app.ts'
import { sealContext } from '../dispatch/target.ts'
import type { WebhooksTables } from '../store/tables.ts'
import { resealSecrets } from './reseal-secrets.ts'

test('after a reseal the old key can be taken away, and the secrets are the same', async (t) => {
  const old = `old:${randomBytes(32).toString('base64')}`
  const fresh = `new:${randomBytes(32).toString('base64')}`
  const app = await testApp(t, { SWITCHYARD_SEAL_KEYS: old })
  const body = { name: 'a', url: 'http://127.0.0.1:9/x', event_types: ['batch.completed'] }
  const made = await app.call(createWebhookEndpoint, { body })
  assert.equal(made.status, 200)
  const db = app.db.as<WebhooksTables>()
  const both = createSealer({ keys: parseSealKeys(`${fresh},${old}`) })
  assert.equal(await resealSecrets(db, both), 1)
  assert.equal(await resealSecrets(db, both), 0, 'a second run finds nothing to do')
  const only = createSealer({ keys: parseSealKeys(fresh) })
  const { rows } = await sql<{ id: string; sealed: string }>`select id, sealed from webhooks.secret`.execute(db.kysely)
  const [row] = rows
  assert.ok(row)
  const opened = only.open(row.sealed, sealContext(row.id)).toString('utf8')
  assert.equal(opened, made.body.signing_secret)
})
