import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { base58, keepIdentity } from './restate-identity.ts'

test('base58 agrees with published vectors', () => {
  const vectors = [
    ['', ''],
    ['61', '2g'],
    ['626262', 'a3gV'],
    ['73696d706c792061206c6f6e6720737472696e67', '2cFupjhnEsSn59qHXstmK2ffpLv2'],
    ['00eb15231dfceb60925886b67d065299925915aeb172c06647', '1NS17iag9jJgTHD1VXjvLCEnZuQ3rJDE9L'],
    ['00000000000000000000', '1111111111'],
  ] as const
  for (const [hex, text] of vectors) assert.equal(base58(Buffer.from(hex, 'hex')), text)
})

test('the identity is made once and only its owner can read it', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-identity-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'identity.pem')
  const first = keepIdentity(file)
  assert.match(first, /^publickeyv1_[1-9A-HJ-NP-Za-km-z]{40,44}$/)
  assert.equal(keepIdentity(file), first)
  assert.equal(statSync(file).mode & 0o777, 0o600)
})
