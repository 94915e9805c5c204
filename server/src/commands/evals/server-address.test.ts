import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { UsageError } from '../command.ts'
import { findServer } from './server-address.ts'

const baseUrl = 'http://127.0.0.1:8080/v1'

test('the address and the key are taken as people write them', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-server-address-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const keyFile = (text: string) => {
    writeFileSync(join(folder, 'key'), text)
    return join(folder, 'key')
  }
  const found = findServer({ baseUrl: `${baseUrl}/`, apiKeyFile: keyFile('sk-1\n') })
  assert.deepEqual(found, { baseUrl, apiKey: 'sk-1' })

  const refused = (url: string, key: string, says: RegExp) =>
    assert.throws(
      () => findServer({ baseUrl: url, apiKeyFile: keyFile(key) }),
      (error) => error instanceof UsageError && says.test(error.message),
    )
  refused(baseUrl, `OPENAI_BASE_URL=${baseUrl}\nOPENAI_API_KEY=sk-1\n`, /key must hold one key and nothing else/)
  refused(baseUrl, 'sk-\u2026', /key must hold one key and nothing else/)
  refused('http://me:secret@127.0.0.1:8080/v1', 'sk-1', /^The base URL must hold no name and no password: /)
  refused(`${baseUrl}?x=1`, 'sk-1', /is no base URL; one looks like/)
})
