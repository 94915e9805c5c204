import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadSettings, required, type SettingsRefused } from './load.ts'

test('nothing set gives the documented defaults', () => {
  const settings = loadSettings({ PATH: '/bin' })
  assert.equal(settings.httpPort, 8080)
  assert.deepEqual(settings.roles, ['all'])
  assert.equal(settings.postgresUrl, null)
})

test('a misspelt setting stops the start and names the likely meaning', () => {
  assert.throws(
    () => loadSettings({ SWITCHYARD_HTTP_PROT: '1' }),
    (error: SettingsRefused) => {
      assert.match(error.message, /SWITCHYARD_HTTP_PROT is not a setting\. Did you mean SWITCHYARD_HTTP_/)
      return true
    },
  )
})

test('every bad value is reported at once', () => {
  assert.throws(
    () => loadSettings({ SWITCHYARD_HTTP_PORT: 'x', SWITCHYARD_LOG_PRETTY: 'yes', SWITCHYARD_LOG_LEVEL: 'loud' }),
    (error: SettingsRefused) => error.problems.length === 3,
  )
})

test('what dev writes for clients does not stop a server started in the same shell', () => {
  loadSettings({ SWITCHYARD_ADMIN_KEY: 'sk-admin-x', SWITCHYARD_PROJECT_ID: 'proj_x', SWITCHYARD_TEST_X: '1' })
})

test('a role that misses a required setting says which and why', () => {
  assert.throws(() => required(loadSettings({}), 'postgresUrl'), /SWITCHYARD_POSTGRES_URL is required: PostgreSQL/)
})
