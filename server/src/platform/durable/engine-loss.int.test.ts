import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { startRestate } from '../../../../dev/engines/restate.ts'
import type { Restate } from '../../../../dev/engines/restate.ts'
import { scratch } from '../../../../dev/engines/testing/scratch.ts'
import { sql } from 'kysely'
import { bind } from './handler.ts'
import { addPiece, chainHandler, chainState } from './testing/chain.ts'
import { startParts } from './testing/parts.ts'
import { eventually, openDurable, useStack } from './testing/stack.ts'

const useStackHere = useStack()
const pieces = 20
const boundMs = 90_000
const chain = chainHandler({ workMs: 50, stalledMs: 2_000, worker: 'in-process', code: 'v1' })

/** An engine of this test's own, to be harmed. */
async function startOwnEngine(t: TestContext) {
  const { folder, own } = scratch(t)
  const engine: Restate = own(await startRestate({ dataDir: folder }))
  const { ingressUrl, adminUrl, identityKey } = engine
  const stack = { ...useStackHere(), ingressUrl, adminUrl, identityKey }
  await sql`truncate chain.piece, chain.row, platform.outbox`.execute(stack.db.kysely)
  const durable = openDurable(stack)
  const bound = bind(chain, { db: stack.db, submitNext: (tx, key, input) => durable.submit(tx, chain, key, input) })
  const parts = durable.worker({
    adminUrl,
    handlers: [bound],
    identityKeys: [identityKey],
    host: '127.0.0.1',
    port: 0,
    stepsMax: 4,
    registrationEveryMs: 500,
    sweepEveryMs: 500,
    sweepLeaseMs: 3_000,
    drainMs: 2_000,
  })
  await startParts(t, [durable.sender, ...parts])
  for (let at = 0; at < pieces; at += 1) await addPiece(stack.db, durable, chain, `piece-${at}`)
  await eventually('some steps are written', boundMs, async () => (await chainState(stack.db)).rows >= 5)
  return { engine, stack, durable }
}

test('killing the engine with -9 under running work loses and repeats nothing', async (t) => {
  const { engine, stack, durable } = await startOwnEngine(t)
  await engine.kill9()
  assert.ok((await chainState(stack.db)).ended < pieces, 'killed in the middle')
  // Work is accepted all the while.
  await addPiece(stack.db, durable, chain, 'while-away')
  await engine.restart()
  await eventually('every piece ended', boundMs, async () => (await chainState(stack.db)).ended === pieces + 1)
  const expected = { pieces: pieces + 1, ended: pieces + 1, rows: 3 * (pieces + 1), doubled: 0 }
  assert.deepEqual(await chainState(stack.db), expected)
})

test('an engine that lost its whole disk is told everything again and the work ends', async (t) => {
  const { engine, stack, durable } = await startOwnEngine(t)
  await engine.wipe()
  assert.ok((await chainState(stack.db)).ended < pieces, 'lost in the middle')
  await engine.restart()
  await eventually('every piece ended', boundMs, async () => (await chainState(stack.db)).ended === pieces)
  assert.deepEqual(await chainState(stack.db), { pieces, ended: pieces, rows: 3 * pieces, doubled: 0 })
  const { registered, swept, relayed } = durable.counts()
  assert.ok(registered >= 2, 'registered again')
  assert.ok(swept + relayed > 0, 're-sent by sweep or relay')
})
