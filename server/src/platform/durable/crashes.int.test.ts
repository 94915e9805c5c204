import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { sql } from 'kysely'
import { freePort } from '../../../../dev/engines/free-port.ts'
import type { Database } from '../db/db.ts'
import { addPiece, chainHandler, chainState, countBegun } from './testing/chain.ts'
import { ChainChild } from './testing/chain-child.ts'
import type { ChainProcessOptions } from './testing/chain-process.ts'
import { startParts } from './testing/parts.ts'
import { eventually, newPrefix, openDurable, useStack } from './testing/stack.ts'
import type { Stack } from './testing/stack.ts'

const useStackHere = useStack()
const pieces = 10
const boundMs = 60_000

type Told = Partial<ChainProcessOptions> & { worker: string; port: number }

async function startChild(t: TestContext, stack: Stack, told: Told): Promise<ChainChild> {
  const { databaseUrl, ingressUrl, adminUrl, identityKey, prefix } = stack
  const where = { databaseUrl, ingressUrl, adminUrl, identityKey, prefix }
  const child = await ChainChild.start({
    ...where,
    code: 'v1',
    workMs: 100,
    stalledMs: 2_000,
    sweepEveryMs: 500,
    sweepLeaseMs: 3_000,
    drainMs: 5_000,
    ...told,
  })
  t.after(() => child.kill9())
  return child
}

async function addPieces(t: TestContext, stack: Stack): Promise<void> {
  // Left by an earlier test, an outbox row would be sent to this test's services.
  await sql`truncate chain.piece, chain.row, platform.outbox`.execute(stack.db.kysely)
  const durable = openDurable(stack)
  await startParts(t, [durable.sender])
  const chain = chainHandler({ workMs: 0, stalledMs: 2_000, worker: 'none', code: 'none' })
  for (let at = 0; at < pieces; at += 1) await addPiece(stack.db, durable, chain, `${stack.prefix}-${at}`)
}

async function allEnded(db: Database): Promise<void> {
  await eventually('every piece ended', boundMs, async () => (await chainState(db)).ended === pieces)
  assert.deepEqual(await chainState(db), { pieces, ended: pieces, rows: 3 * pieces, doubled: 0 })
}

test('killing a worker with -9 in the middle of its steps loses and repeats nothing', async (t) => {
  const stack = { ...useStackHere(), prefix: newPrefix() }
  const port = await freePort()
  const first = await startChild(t, stack, { worker: 'first', port })
  await addPieces(t, stack)
  await eventually('some steps are written', boundMs, async () => (await chainState(stack.db)).rows >= 5)
  await first.kill9()
  assert.ok((await chainState(stack.db)).ended < pieces, 'killed in the middle')
  await startChild(t, stack, { worker: 'second', port })
  await allEnded(stack.db)
})

test('a worker that was frozen for longer than its lease writes nothing when it goes on', async (t) => {
  const stack = { ...useStackHere(), prefix: newPrefix() }
  // Long steps: everything the frozen worker holds is in the middle of one.
  const frozenPort = await freePort()
  const frozen = await startChild(t, stack, { worker: 'frozen', port: frozenPort, workMs: 1_000, stalledMs: 3_000 })
  await addPieces(t, stack)
  await eventually('steps have begun', boundMs, async () => (await countBegun(stack.db)) === pieces)
  frozen.freeze()
  // At the same port, the kernel would go on giving the frozen one its share of connections; that takes a minute.
  await startChild(t, stack, { worker: 'awake', port: await freePort(), stalledMs: 3_000 })
  await allEnded(stack.db)
  frozen.thaw()
  await eventually('the frozen steps gave up', boundMs, async () => overOrFailed(frozen) >= pieces)
  await allEnded(stack.db)
  const { rows } = await sql<{ worker: string }>`select distinct worker from chain.row`.execute(stack.db.kysely)
  assert.deepEqual(rows, [{ worker: 'awake' }])
})

test('a worker that ends hands its share to the other without cutting off a step', async (t) => {
  const stack = { ...useStackHere(), prefix: newPrefix() }
  const port = await freePort()
  const first = await startChild(t, stack, { worker: 'first', port, workMs: 400, stalledMs: 60_000 })
  const second = await startChild(t, stack, { worker: 'second', port, workMs: 400, stalledMs: 60_000 })
  await addPieces(t, stack)
  await eventually('steps have begun', boundMs, async () => (await countBegun(stack.db)) > 0)
  await first.end()
  await allEnded(stack.db)
  await second.end()
  const { counts: one } = first
  const { counts: two } = second
  assert.equal((one?.stepsDone ?? 0) + (two?.stepsDone ?? 0), 3 * pieces)
  assert.deepEqual([one?.stepsFailed, two?.stepsFailed], [0, 0])
})

test('changed code takes over the work that the old code had begun, at the same address', async (t) => {
  const stack = { ...useStackHere(), prefix: newPrefix() }
  const port = await freePort()
  const old = await startChild(t, stack, { worker: 'old', code: 'v1', port, workMs: 300 })
  await addPieces(t, stack)
  await eventually('some steps are written', boundMs, async () => (await chainState(stack.db)).rows >= 5)
  await old.end()
  assert.ok((await chainState(stack.db)).ended < pieces, 'changed in the middle')
  const changed = await startChild(t, stack, { worker: 'new', code: 'v2', port, workMs: 10, stepTimeoutMs: 45_000 })
  await allEnded(stack.db)
  // The counts are printed now and then: all may have ended before the first line of them.
  await eventually('the engine was told of the new shape', boundMs, async () => changed.counts?.registered === 1)
  const { rows } = await sql<{ code: string }>`select distinct code from chain.row order by code`.execute(
    stack.db.kysely,
  )
  assert.deepEqual(rows, [{ code: 'v1' }, { code: 'v2' }])
})

function overOrFailed(child: ChainChild): number {
  return (child.counts?.stepsOver ?? 0) + (child.counts?.stepsFailed ?? 0)
}
