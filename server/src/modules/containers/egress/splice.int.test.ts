import assert from 'node:assert/strict'
import { egressBench, enterTls, get, say } from './testing/egress-bench.ts'
import { egressTest } from './testing/egress-test.ts'
import { upstream } from './testing/upstream.ts'

egressTest('a listed host without a secret is reached with its own certificate, untouched', async (t) => {
  const bench = await egressBench(t)
  const outside = await upstream(t, { address: bench.outside, ...bench.certificates })
  const { socketPath, containerId, caPem } = await bench.container({ domains: ['listed.example'] })
  assert.equal(caPem, null)
  const tls = await enterTls(socketPath, { servername: 'listed.example', ca: bench.certificates.ca })
  assert.match(await say(tls, get('listed.example', '/x')), /hello listed\.example \/x$/)
  assert.deepEqual(
    outside.seen.map(({ secure, url }) => [secure, url]),
    [[true, '/x']],
  )
  const [receipt] = await bench.receiptsOf(containerId)
  assert.ok(receipt !== undefined && receipt.bytesIn > 500 && receipt.bytesOut > 300)
  assert.deepEqual(
    [receipt.host, receipt.port, receipt.verdict, receipt.reason],
    ['listed.example', 443, 'allowed', null],
  )
})
