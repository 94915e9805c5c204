import assert from 'node:assert/strict'
import { test } from 'node:test'
import { loadSettings, required, SettingsRefused } from './load.ts'
import { settingsReference } from './reference.ts'
import { settings } from './settings.ts'

function problems(environment: Record<string, string>): readonly string[] {
  try {
    loadSettings(environment)
  } catch (error) {
    assert.ok(error instanceof SettingsRefused)
    return error.problems
  }
  return []
}

test('nothing set gives the documented defaults', () => {
  const loaded = loadSettings({ PATH: '/bin' })
  assert.equal(loaded.httpPort, 8080)
  assert.deepEqual(loaded.roles, ['all'])
  assert.equal(loaded.postgresUrl, null)
  assert.equal(loaded.traceSampleRatio, 0.01)
})

test('a setting that is empty counts as not set', () => {
  assert.deepEqual(loadSettings({ SWITCHYARD_HTTP_PORT: '', SWITCHYARD_POSTGRES_URL: '' }), loadSettings({}))
})

test('what is set is read by its kind', () => {
  const loaded = loadSettings({
    SWITCHYARD_HTTP_PORT: '9000',
    SWITCHYARD_ROLES: ' api, worker,',
    SWITCHYARD_LOG_PRETTY: 'true',
    SWITCHYARD_TRACE_SAMPLE_RATIO: '.5',
    SWITCHYARD_POSTGRES_URL: 'postgresql:///app?host=/run/postgresql',
    SWITCHYARD_HTTP_CORS_ORIGINS: 'https://a.example,http://localhost:5173',
  })
  assert.equal(loaded.httpPort, 9000)
  assert.deepEqual(loaded.roles, ['api', 'worker'])
  assert.equal(loaded.logPretty, true)
  assert.equal(loaded.traceSampleRatio, 0.5)
  assert.equal(loaded.postgresUrl, 'postgresql:///app?host=/run/postgresql')
  assert.deepEqual(loaded.httpCorsOrigins, ['https://a.example', 'http://localhost:5173'])
})

test('a misspelt setting stops the start and names the likely meaning', () => {
  assert.deepEqual(problems({ SWITCHYARD_HTTP_PROT: '1' }), [
    'SWITCHYARD_HTTP_PROT is not a setting. Did you mean SWITCHYARD_HTTP_PORT?',
  ])
  assert.deepEqual(problems({ SWITCHYARD_POSTGRES_URI: '1' }), [
    'SWITCHYARD_POSTGRES_URI is not a setting. Did you mean SWITCHYARD_POSTGRES_URL?',
  ])
  assert.deepEqual(problems({ SWITCHYARD_COFFEE_TEMPERATURE: '1' }), [
    'SWITCHYARD_COFFEE_TEMPERATURE is not a setting.',
  ])
})

test('every bad value is reported at once', () => {
  const bad = { SWITCHYARD_HTTP_PORT: 'x', SWITCHYARD_LOG_PRETTY: 'yes', SWITCHYARD_LOG_LEVEL: 'loud' }
  assert.equal(problems(bad).length, 3)
})

const badValues: [name: string, values: string[]][] = [
  ['SWITCHYARD_HTTP_PORT', ['-1', '65536', '1.5', '0x10', ' 80', '1e3', '9'.repeat(400)]],
  ['SWITCHYARD_TRACE_SAMPLE_RATIO', ['2', '-0.5', ' ', '0x1', 'NaN', '1e400', 'Infinity', '1.']],
  ['SWITCHYARD_LOG_PRETTY', ['1', 'TRUE', 'yes']],
  ['SWITCHYARD_POSTGRES_URL', ['localhost:5432', 'http://x', 'nonsense', 'mysql://a:b@c/d']],
  ['SWITCHYARD_RESTATE_ADMIN_URL', ['127.0.0.1:9070', 'ftp://x']],
  ['SWITCHYARD_HTTP_CORS_ORIGINS', ['https://app.example/', 'app.example', 'https://a.example/x,*']],
  ['SWITCHYARD_CELL_TAG', ['C0', 'a-b', 'much-too-long']],
]
for (const [name, values] of badValues) {
  test(`${name} refuses what it cannot use, and says what it is for`, () => {
    for (const value of values) {
      const found = problems({ [name]: value })
      assert.equal(found.length, 1, JSON.stringify(value))
      assert.ok(found[0]?.startsWith(`${name}: `), found[0])
      assert.ok(found[0]?.includes(settings[name as keyof typeof settings].description))
    }
  })
}

test('a refused secret is not repeated', () => {
  const found = problems({
    SWITCHYARD_POSTGRES_URL: 'mysql://me:hunter2@db/x',
    SWITCHYARD_VALKEY_URL: 'http://:hunter2@v',
  })
  assert.equal(found.length, 2)
  assert.doesNotMatch(found.join(), /hunter2/)
})

test('what dev writes for clients does not stop a server started in the same shell', () => {
  loadSettings({
    SWITCHYARD_ADMIN_KEY: 'sk-admin-x',
    SWITCHYARD_PROJECT_ID: 'proj_x',
    SWITCHYARD_TEST_X: '1',
    SWITCHYARD_DEV_Y: '1',
  })
})

test('a role that misses a required setting says which and why', () => {
  assert.throws(() => required(loadSettings({}), 'postgresUrl'), /SWITCHYARD_POSTGRES_URL is required: PostgreSQL/)
  const loaded = loadSettings({ SWITCHYARD_POSTGRES_URL: 'postgres://x/y' })
  assert.equal(required(loaded, 'postgresUrl').postgresUrl, 'postgres://x/y')
})

test('the reference names every setting once, with its unit and its default, in rows that hold together', () => {
  const rows = settingsReference()
    .split('\n')
    .filter((line) => line.startsWith('| `'))
  assert.deepEqual(
    rows.map((row) => row.split('`')[1]),
    Object.keys(settings),
  )
  for (const row of rows) assert.equal(row.replaceAll('\\|', '').split('|').length, 6, row)
})
