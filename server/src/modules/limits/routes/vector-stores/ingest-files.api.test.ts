import { createVectorStoreFile, createVectorStoreFileBatch } from '@switchyard/contracts/vector-stores.ts'
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OpenAI, RateLimitError } from 'openai'
import { testApp } from '../../../../../test/test-app.ts'
import { limitedOrg, rateOf } from '../../testing/rate-kit.ts'

const perMinute = 300
const atOnce = 20

type Way = 'file' | 'batch' | 'not understood'
const ways: readonly Way[] = ['file', 'batch', 'not understood']
const bodies: Record<Way, object> = {
  file: { file_id: 'file-a' },
  batch: { file_ids: ['file-a', 'file-b'] },
  'not understood': { file_id: 7 },
}
const answers: Record<Way, number> = { file: 501, batch: 501, 'not understood': 400 }

test('both ways to put files into a vector store share 300 requests a minute for each store', async (t) => {
  const app = await testApp(t)
  const org = await limitedOrg(app, 'tier_5')
  const put = (store: string, way: Way, key: string = org.project.key) => {
    const operation = way === 'batch' ? createVectorStoreFileBatch : createVectorStoreFile
    return app.call(operation, { params: { vector_store_id: store }, body: bodies[way], key })
  }
  const isRefused = async (way: Way) => {
    const reply = await put('vs_full', way)
    assert.deepEqual([reply.status, reply.error.type, reply.error.code], [429, 'requests', 'rate_limit_exceeded'])
    assert.match(reply.error.message, /^Rate limit reached for vector store vs_full in project .*Limit 300, Used 300/)
    assert.equal(rateOf(reply).requests?.remaining, 0)
    assert.ok(Number(reply.headers.get('retry-after-ms')) >= 200)
    assert.equal(reply.headers.get('x-should-retry'), 'true')
  }

  // S3-8.6-a S3-8.6-b
  await t.test(
    'request 301 is refused with headers, whichever way it comes; what is not understood counts',
    async () => {
      const begun = performance.now()
      let counted = 0
      const lane = async (from: number) => {
        for (let at = from; at < perMinute + 200; at += atOnce) {
          const way = ways[at % ways.length] ?? 'file'
          const reply = await put('vs_full', way)
          if (reply.status === answers[way]) counted += 1
          else assert.equal(reply.status, 429, reply.text)
          assert.deepEqual([rateOf(reply).requests?.limit, rateOf(reply).tokens], [perMinute, null])
        }
      }
      await Promise.all(Array.from({ length: atOnce }, (_, from) => lane(from)))
      const freed = Math.floor(((performance.now() - begun) / 60_000) * perMinute)
      assert.ok(counted >= perMinute && counted <= perMinute + freed, `${counted} counted, ${freed} were free again`)
      for (const way of ways) await isRefused(way)
    },
  )

  await t.test('the SDK meets the limit as it meets any other', async () => {
    const client = new OpenAI({ baseURL: `${app.baseUrl}/v1`, apiKey: org.project.key, maxRetries: 0 })
    const file = async () => await client.vectorStores.files.create('vs_full', { file_id: 'file-a' })
    await assert.rejects(file, RateLimitError)
  })

  await t.test('another store, and a store of the same name elsewhere, are not affected', async () => {
    const other = await put('vs_other', 'file')
    assert.deepEqual([other.status, other.error.code, rateOf(other).requests?.remaining], [501, 'not_implemented', 299])
    assert.equal(other.headers.get('x-should-retry'), 'false')
    const elsewhere = await put('vs_full', 'file', org.other.key)
    assert.deepEqual([elsewhere.status, rateOf(elsewhere).requests?.remaining], [501, 299])
  })
})
