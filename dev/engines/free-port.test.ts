import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import test from 'node:test'
import { freePort, portIsFree } from './free-port.ts'

test('ports handed out at the same moment are all different and free', async () => {
  const ports = await Promise.all(Array.from({ length: 20 }, async () => await freePort()))
  assert.equal(new Set(ports).size, ports.length)
  assert.equal(await portIsFree(ports[0]!), true)
})

test('a port somebody listens on is reported as taken', async (t) => {
  const port = await freePort()
  const server = createServer()
  t.after(() => server.close())
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  assert.equal(await portIsFree(port), false)
})
