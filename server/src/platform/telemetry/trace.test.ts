import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import fc from 'fast-check'
import { createTracing } from './trace.ts'
import { formatTraceparent, parseTraceparent } from './traceparent.ts'

interface WireSpan {
  name: string
  traceId: string
  spanId: string
  parentSpanId?: string
  attributes: { key: string; value: Record<string, unknown> }[]
  status: { code: number; message?: string }
}

/** An OTLP/HTTP receiver that keeps what it was sent. */
async function startReceiver(t: TestContext, status = 200) {
  const spans: WireSpan[] = []
  const paths: string[] = []
  const services: string[] = []
  const take = async (request: IncomingMessage, response: ServerResponse) => {
    const body = (await json(request)) as {
      resourceSpans: { resource: { attributes: WireSpan['attributes'] }; scopeSpans: { spans: WireSpan[] }[] }[]
    }
    paths.push(request.url ?? '')
    for (const { resource, scopeSpans } of body.resourceSpans) {
      services.push(...resource.attributes.map(({ value }) => String(value['stringValue'])))
      spans.push(...scopeSpans.flatMap((scope) => scope.spans))
    }
    response.writeHead(status, { 'content-type': 'application/json' }).end('{}')
  }
  const server = createServer((request, response) => void take(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { url: `http://127.0.0.1:${port}`, spans, paths, services }
}

const attributesOf = (span: WireSpan) =>
  Object.fromEntries(span.attributes.map(({ key, value }) => [key, Object.values(value)[0]]))

test('without an address a span is a plain call', async () => {
  const tracing = await createTracing({ sampleRatio: 1, serviceName: 'switchyard' })
  assert.equal(
    await tracing.span('a', {}, async (span) => tracing.spanFrom({}, 'b', {}, async () => span.set({ a: 1 }) ?? 7)),
    7,
  )
  assert.equal(tracing.traceparent(), undefined)
  await tracing.stop()
})

test('spans reach the collector with their parents, attributes and failures', async (t) => {
  const receiver = await startReceiver(t)
  const tracing = await createTracing({ otlpUrl: `${receiver.url}/`, sampleRatio: 1, serviceName: 'yard' })
  const sent = `00-${'a'.repeat(31)}1-${'b'.repeat(15)}2-01`
  const seen = await tracing.spanFrom({ traceparent: sent }, 'request', { route: 'files.get' }, async (span) => {
    span.set({ status: 200 })
    const inner = tracing.span('query', {}, async () => Promise.reject(new TypeError('sk-proj-secret in here')))
    await Promise.allSettled([inner, tracing.span('blob', {}, async () => 1)])
    return tracing.traceparent()
  })
  await tracing.stop()

  assert.deepEqual(receiver.paths, ['/v1/traces'])
  assert.deepEqual(receiver.services, ['yard'])
  const [query, blob, request] = ['query', 'blob', 'request'].map((name) =>
    receiver.spans.find((s) => s.name === name)!,
  )
  assert.equal(request!.traceId, `${'a'.repeat(31)}1`)
  assert.equal(request!.parentSpanId, `${'b'.repeat(15)}2`)
  assert.equal(seen, `00-${request!.traceId}-${request!.spanId}-01`)
  assert.deepEqual([query!.parentSpanId, blob!.parentSpanId], [request!.spanId, request!.spanId])
  assert.deepEqual(attributesOf(request!), { route: 'files.get', status: 200 })
  assert.deepEqual(
    [query!.status, attributesOf(query!)],
    [{ code: 2, message: 'TypeError' }, { 'error.type': 'TypeError' }],
  )
  assert.ok(!JSON.stringify(receiver.spans).includes('secret'))
})

test('only the chosen part of the traces is recorded, whatever callers ask for', async (t) => {
  const receiver = await startReceiver(t)
  const tracing = await createTracing({ otlpUrl: `${receiver.url}/v1/traces`, sampleRatio: 0, serviceName: 'yard' })
  const sampled = { traceparent: `00-${'c'.repeat(32)}-${'d'.repeat(16)}-01` }
  for (let n = 0; n < 50; n++) {
    await tracing.spanFrom(sampled, 'greedy', {}, async () => tracing.span('inner', {}, async () => undefined))
    await tracing.span('own', {}, async () => undefined)
  }
  await tracing.stop()
  assert.equal(receiver.spans.length, 0)

  const all = await createTracing({ otlpUrl: receiver.url, sampleRatio: 1, serviceName: 'yard' })
  await all.spanFrom({ traceparent: sampled.traceparent.replace(/01$/, '00') }, 'declined', {}, async () => undefined)
  await all.spanFrom({ traceparent: 'nonsense' }, 'kept', {}, async () => undefined)
  await all.stop()
  assert.deepEqual(
    receiver.spans.map((span) => span.name),
    ['kept'],
  )
})

test('a collector that refuses is told to the operator and disturbs no work', async (t) => {
  const receiver = await startReceiver(t, 400)
  const failures: Error[] = []
  const onExportFailed = (error: Error) => failures.push(error)
  const tracing = await createTracing({ otlpUrl: receiver.url, sampleRatio: 1, serviceName: 'yard', onExportFailed })
  assert.equal(await tracing.span('work', {}, async () => 'done'), 'done')
  await tracing.stop()
  assert.equal(failures.length, 1)
})

test('a traceparent survives being read and written, and nonsense is ignored', () => {
  const hex = (length: number) => fc.stringMatching(new RegExp(`^[0-9a-f]{${length}}$`))
  fc.assert(
    fc.property(hex(32), hex(16), fc.constantFrom('00', '01'), (traceId, spanId, flags) => {
      const header = `00-${traceId}-${spanId}-${flags}`
      const read = parseTraceparent(header)
      if (/^0+$/.test(traceId) || /^0+$/.test(spanId)) assert.equal(read, null)
      else assert.equal(formatTraceparent(read!), header)
    }),
  )
  fc.assert(fc.property(fc.string(), (text) => assert.equal(parseTraceparent(text), null)))
  const [trace, span] = ['1'.repeat(32), '2'.repeat(16)]
  assert.equal(parseTraceparent(`ff-${trace}-${span}-01`), null)
  assert.equal(parseTraceparent(`00-${trace}-${span}-01-extra`), null)
  assert.equal(parseTraceparent(`00-${trace.toUpperCase().replace('1', 'A')}-${span}-01`), null)
  assert.deepEqual(parseTraceparent(`cc-${trace}-${span}-ff-later`)?.traceFlags, 1)
})
