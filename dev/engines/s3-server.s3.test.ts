import assert from 'node:assert/strict'
import test from 'node:test'
import { portIsFree } from './free-port.ts'
import { startS3Server } from './s3-server.ts'
import { scratch } from './testing/scratch.ts'

test('the S3 server comes back on its port and with its secret after a crash, and leaves nothing when stopped', async (t) => {
  const { folder, own } = scratch(t)
  const server = own(await startS3Server({ dataDir: folder }))
  const port = Number(new URL(server.endpoint).port)
  const status = async () => (await fetch(`${server.endpoint}/${server.bucket}`)).status
  assert.equal(await status(), 403, 'a request without a signature is refused')
  await server.kill9()
  assert.equal(await portIsFree(port), true)
  await server.restart()
  assert.equal(await status(), 403)
  await server.stop()
  assert.equal(await portIsFree(port), true)
  const again = own(await startS3Server({ dataDir: folder }))
  assert.equal(again.secretAccessKey, server.secretAccessKey)
})
