import assert from 'node:assert/strict'
import { createPublicKey, verify } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { startProcess } from './process.ts'
import type { Restate } from './restate.ts'
import { startRestate } from './restate.ts'
import type { Scratch } from './testing/scratch.ts'
import { scratch } from './testing/scratch.ts'
import { becomesTrue } from './wait-until.ts'

const BOUND_MS = 20_000
const GIVEN_UP_BOUND_MS = 15_000

async function startWaitingService({ folder, own }: Scratch) {
  const logFile = join(folder, 'service.log')
  const script = join(import.meta.dirname, 'testing', 'waiting-service.ts')
  const at = { name: 'service', logFile, pidFile: join(folder, 'service.pid') }
  const service = own(await startProcess(process.execPath, [script], at))
  const lines = () => readFileSync(logFile, 'utf8').split('\n')
  await service.waitReady(() => lines().length > 1, BOUND_MS)
  const requests = () =>
    lines()
      .slice(1, -1)
      .map((line) => JSON.parse(line) as Record<string, string>)
  return { service, port: Number(lines()[0]), requests }
}

async function register(restate: Restate, port: number): Promise<void> {
  const reply = await post(`${restate.adminUrl}/deployments`, { uri: `http://127.0.0.1:${port}` })
  assert.equal(reply.status, 201, JSON.stringify(reply.body))
}

async function post(url: string, body: unknown): Promise<{ status: number; body: unknown }> {
  const headers = { 'content-type': 'application/json', accept: 'application/json' }
  const reply = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) })
  return { status: reply.status, body: await reply.json() }
}

async function listInvocations(restate: Restate): Promise<Record<string, unknown>[]> {
  const query = 'select status, retry_count, last_failure from sys_invocation'
  const reply = await post(`${restate.adminUrl}/query`, { query })
  return (reply.body as { rows: Record<string, unknown>[] }).rows
}

async function listDeployments(restate: Restate): Promise<unknown[]> {
  const reply = await fetch(`${restate.adminUrl}/deployments`)
  return ((await reply.json()) as { deployments: unknown[] }).deployments
}

/** Checks a request's signature with the key that the engine's handle gives out. */
function assertSigned(headers: Record<string, string>, identityKey: string): void {
  assert.equal(headers['x-restate-signature-scheme'], 'v1')
  const [head = '', claims = '', signature = ''] = (headers['x-restate-jwt-v1'] ?? '').split('.')
  const { kid } = JSON.parse(Buffer.from(head, 'base64url').toString()) as { kid: string }
  assert.equal(kid, identityKey)
  const raw = decodeBase58(identityKey.replace('publickeyv1_', ''))
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: raw.toString('base64url') }
  const key = createPublicKey({ key: jwk, format: 'jwk' })
  assert.equal(verify(null, Buffer.from(`${head}.${claims}`), key, Buffer.from(signature, 'base64url')), true)
}

function decodeBase58(text: string): Buffer {
  const alphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
  const value = text.split('').reduce((sum, digit) => sum * 58n + BigInt(alphabet.indexOf(digit)), 0n)
  return Buffer.from(value.toString(16).padStart(64, '0'), 'hex')
}

test('two engines run side by side, and each signs its requests with its own key', async (t) => {
  const place = scratch(t)
  const one = place.own(await startRestate({ dataDir: join(place.folder, 'one'), fsync: false }))
  const two = place.own(await startRestate({ dataDir: join(place.folder, 'two'), fsync: false }))
  assert.notEqual(one.identityKey, two.identityKey)
  const { port, requests } = await startWaitingService(place)
  await register(one, port)
  await register(two, port)
  const [fromOne, fromTwo] = requests()
  assertSigned(fromOne!, one.identityKey)
  assertSigned(fromTwo!, two.identityKey)
})

test('its disk survives kill -9 and a start on other ports, and a wipe empties it', async (t) => {
  const place = scratch(t)
  const dataDir = join(place.folder, 'engine')
  const first = place.own(await startRestate({ dataDir }))
  const { port } = await startWaitingService(place)
  await register(first, port)
  await first.kill9()
  await first.restart()
  assert.equal((await listDeployments(first)).length, 1)
  await first.stop()

  const moved = place.own(await startRestate({ dataDir }))
  assert.notEqual(moved.adminUrl, first.adminUrl)
  assert.equal(moved.identityKey, first.identityKey)
  assert.equal((await listDeployments(moved)).length, 1)
  const accepted = await post(`${moved.ingressUrl}/Waiting/run/send`, {})
  assert.equal(accepted.status, 202)

  await moved.wipe()
  await moved.restart()
  assert.deepEqual(await listDeployments(moved), [])
})

test('a frozen worker is given up within seconds', async (t) => {
  const place = scratch(t)
  const restate = place.own(await startRestate({ dataDir: join(place.folder, 'engine'), fsync: false }))
  const { service, port, requests } = await startWaitingService(place)
  await register(restate, port)
  await post(`${restate.ingressUrl}/Waiting/run/send`, {})
  assert.equal(await becomesTrue(() => requests().length === 2, BOUND_MS), true, 'the invocation reached the worker')
  process.kill(service.pid, 'SIGSTOP')
  const frozenAt = performance.now()
  const failed = async () => (await listInvocations(restate)).some((row) => row['last_failure'] !== undefined)
  assert.equal(await becomesTrue(failed, GIVEN_UP_BOUND_MS), true, JSON.stringify(await listInvocations(restate)))
  t.diagnostic(`given up after ${Math.round(performance.now() - frozenAt)} ms`)
})
