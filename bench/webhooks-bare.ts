/** The twin of delivery: signed POSTs from a plain loop, at a given concurrency, and nothing else. */
import { createHmac, createSecretKey, type KeyObject } from 'node:crypto'
import { Pool } from 'undici'
import { answerParent, sharedNow } from '../e2e/webhooks/child.ts'

export interface BareLoad {
  /** Addresses of the endpoints, each on an origin of its own. */
  readonly urls: readonly string[]
  readonly secrets: readonly string[]
  readonly deliveries: number
  readonly concurrency: number
}

const bodyOf = (number: number) =>
  JSON.stringify({
    id: `evt_${String(number).padStart(26, '0')}`,
    object: 'event',
    type: 'response.completed',
    created_at: Math.floor(Date.now() / 1_000),
    data: { id: `resp_${number}`, n: number },
  })

async function run({ urls, secrets, deliveries, concurrency }: BareLoad): Promise<number> {
  const targets = urls.map((url) => ({
    pool: new Pool(new URL(url).origin, { connections: concurrency / urls.length, pipelining: 1 }),
    path: new URL(url).pathname,
  }))
  const keys = secrets.map((secret) => createSecretKey(Buffer.from(secret.replace('whsec_', ''), 'base64')))
  let next = 0
  const one = async () => {
    while (next < deliveries) {
      const number = next
      next += 1
      const place = number % urls.length
      const body = bodyOf(Math.floor(number / urls.length))
      const timestamp = Math.floor(Date.now() / 1_000)
      const id = `wh_${String(number).padStart(26, '0')}`
      const signature = createHmac('sha256', keys[place] as KeyObject)
        .update(`${id}.${timestamp}.${body}`)
        .digest('base64')
      const { pool, path } = targets[place] as (typeof targets)[number]
      const reply = await pool.request({
        method: 'POST',
        path,
        headers: {
          'content-type': 'application/json',
          'user-agent': 'bare',
          'webhook-id': id,
          'webhook-timestamp': String(timestamp),
          'webhook-signature': `v1,${signature}`,
        },
        body,
      })
      await reply.body.dump()
      if (reply.statusCode !== 200) throw new Error(`answered ${reply.statusCode}`)
    }
  }
  const began = sharedNow()
  await Promise.all(Array.from({ length: concurrency }, one))
  const tookMs = sharedNow() - began
  for (const { pool } of targets) await pool.close()
  return tookMs
}

answerParent<BareLoad>((load) => run(load))
