import assert from 'node:assert/strict'
import { connect } from 'node:http2'
import { test } from 'node:test'
import type { TestContext } from 'node:test'
import { sql } from 'kysely'
import { Admin } from './admin.ts'
import type { Durable } from './durable.ts'
import { bind, handler } from './handler.ts'
import type { BoundHandler } from './handler.ts'
import { countOutbox } from './outbox.ts'
import { Finished } from './step-over.ts'
import { addPiece, chainHandler, chainState } from './testing/chain.ts'
import { startParts } from './testing/parts.ts'
import { eventually, newPrefix, openDurable, useStack } from './testing/stack.ts'
import type { Stack } from './testing/stack.ts'

const useStackHere = useStack()
const chain = chainHandler({ workMs: 5, stalledMs: 60_000, worker: 'in-process', code: 'v1' })

function bindChain(stack: Stack, durable: Durable): BoundHandler {
  return bind(chain, { db: stack.db, submitNext: (tx, key, input) => durable.submit(tx, chain, key, input) })
}

async function startWorker(t: TestContext, stack: Stack, durable: Durable, handlers: BoundHandler[], port = 0) {
  const parts = durable.worker({
    adminUrl: stack.adminUrl,
    handlers,
    identityKeys: [stack.identityKey],
    host: '127.0.0.1',
    port,
    sweepEveryMs: 300,
    sweepLeaseMs: 2_000,
    relayEveryMs: 100,
    drainMs: 5_000,
  })
  return await startParts(t, [durable.sender, ...parts])
}

test('work that was accepted is carried out step by step, each once', async (t) => {
  const stack = { ...useStackHere(), prefix: newPrefix() }
  const durable = openDurable(stack)
  await startWorker(t, stack, durable, [bindChain(stack, durable)])
  for (let at = 0; at < 20; at += 1) await addPiece(stack.db, durable, chain, `once-${at}`)
  await eventually('all pieces ended', 20_000, async () => (await chainState(stack.db)).ended === 20)
  assert.deepEqual(await chainState(stack.db), { pieces: 20, ended: 20, rows: 60, doubled: 0 })
  await eventually('the outbox is empty', 5_000, async () => (await countOutbox(stack.db.as())) === 0)
  const { sentAtCommit, relayed, swept, stepsDone } = durable.counts()
  assert.deepEqual(
    { sentAtCommit, relayed, swept, stepsDone },
    { sentAtCommit: 60, relayed: 0, swept: 0, stepsDone: 60 },
  )
})

test('work of a transaction that was rolled back never starts', async (t) => {
  const stack = { ...useStackHere(), prefix: newPrefix() }
  const durable = openDurable(stack)
  const begun: string[] = []
  const note = noteHandler(begun)
  await startWorker(t, stack, durable, [bind(note, {})])
  await assert.rejects(
    stack.db.tx(async (tx) => {
      await durable.submit(tx, note, 'rolled-back:1', 'rolled back')
      throw new Error('changed my mind')
    }),
    /changed my mind/,
  )
  await stack.db.tx((tx) => durable.submit(tx, note, 'kept:1', 'kept'))
  await eventually('the kept one ran', 10_000, async () => begun.length > 0)
  assert.deepEqual(begun, ['kept'])
})

test('what a process left in the outbox when it died is sent by the relay', async (t) => {
  const stack = { ...useStackHere(), prefix: newPrefix() }
  // The engine of this process is never reached, which is what a crash right after the commit looks like.
  const dying = openDurable(stack, { ingressUrl: 'http://127.0.0.1:9' })
  t.after(() => dying.sender.stop?.())
  const begun: string[] = []
  const note = noteHandler(begun)
  await stack.db.tx((tx) => dying.submit(tx, note, 'left-behind:1', 'left behind'))
  const durable = openDurable(stack)
  await startWorker(t, stack, durable, [bind(note, {})])
  await eventually('the relay sent it', 15_000, async () => begun.length > 0)
  assert.deepEqual(begun, ['left behind'])
  assert.equal(durable.counts().relayed, 1)
  await eventually('the outbox is empty', 5_000, async () => (await countOutbox(stack.db.as())) === 0)
})

test('work that the engine killed is started again by the sweep under a new key', async (t) => {
  const stack = { ...useStackHere(), prefix: newPrefix() }
  const durable = openDurable(stack)
  await sql`create table if not exists chain.killed (id text primary key, generation integer not null default 1,
    moved_at timestamptz not null default clock_timestamp(), seen integer[] not null default '{}')`.execute(
    stack.db.kysely,
  )
  await sql`insert into chain.killed (id) values ('k')`.execute(stack.db.kysely)
  let hanging = 0
  const stuck = handler<object, number>({
    name: 'chain.get-stuck',
    stepTimeoutMs: 60_000,
    outstanding: async (tx) => {
      const { rows } = await sql<{ generation: number }>`update chain.killed
        set generation = generation + 1, moved_at = clock_timestamp()
        where moved_at < clock_timestamp() - interval '1 second' and cardinality(seen) = 0
        returning generation`.execute(tx.tables())
      return rows.map(({ generation }) => ({ key: `k:${generation}`, input: generation }))
    },
    run: async (_, generation, { signal }) => {
      if (generation === 1) {
        hanging += 1
        await new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(new Error('cut off'))))
      }
      await sql`update chain.killed set seen = seen || ${generation}::integer`.execute(stack.db.kysely)
    },
  })
  await startWorker(t, stack, durable, [bind(stuck, {})])
  await stack.db.tx((tx) => durable.submit(tx, stuck, 'k:1', 1))
  await eventually('the first attempt hangs', 10_000, async () => hanging > 0)
  const killed = await killInvocations(stack)
  assert.equal(killed, 1)
  await eventually('the sweep started it again', 15_000, async () => (await seenGenerations(stack)).length > 0)
  assert.deepEqual(await seenGenerations(stack), [2])
  assert.ok(durable.counts().swept >= 1)
})

test('a step submitted for later starts when PostgreSQL says so, not before', async (t) => {
  const stack = { ...useStackHere(), prefix: newPrefix() }
  const durable = openDurable(stack)
  const begun: Date[] = []
  const later = handler<object, null>({
    name: 'chain.start-later',
    stepTimeoutMs: 10_000,
    outstanding: async () => [],
    run: async () => {
      begun.push(await stack.db.now())
    },
  })
  await startWorker(t, stack, durable, [bind(later, {})])
  const due = new Date((await stack.db.now()).getTime() + 2_000)
  const past = new Date((await stack.db.now()).getTime() - 60_000)
  await stack.db.tx(async (tx) => {
    await durable.submit(tx, later, 'due:1', null, { at: due })
    await durable.submit(tx, later, 'overdue:1', null, { at: past })
  })
  await eventually('both ran', 10_000, async () => begun.length === 2)
  assert.ok(begun[0]! < due, 'what is overdue starts at once')
  const lateMs = begun[1]!.getTime() - due.getTime()
  assert.ok(lateMs >= 0 && lateMs < 2_000, `started ${lateMs} ms after its time`)
})

test('a step that fails is tried again, and one that has nothing to do ends quietly', async (t) => {
  const stack = { ...useStackHere(), prefix: newPrefix() }
  const durable = openDurable(stack)
  let tries = 0
  const shaky = handler<object, null>({
    name: 'chain.try-again',
    stepTimeoutMs: 10_000,
    outstanding: async () => [],
    run: async () => {
      tries += 1
      if (tries < 3) throw new Error('not yet')
      throw new Finished('nothing left to do')
    },
  })
  await startWorker(t, stack, durable, [bind(shaky, {})])
  await stack.db.tx((tx) => durable.submit(tx, shaky, 'shaky:1', null))
  await eventually('the third try', 15_000, async () => durable.counts().stepsOver === 1)
  const { stepsFailed, stepsDone } = durable.counts()
  assert.deepEqual({ tries, stepsFailed, stepsDone }, { tries: 3, stepsFailed: 2, stepsDone: 0 })
})

test('a step that takes longer than it said is cut off and tried again', async (t) => {
  const stack = { ...useStackHere(), prefix: newPrefix() }
  const durable = openDurable(stack)
  const cut: boolean[] = []
  const slow = handler<object, null>({
    name: 'chain.take-too-long',
    stepTimeoutMs: 300,
    outstanding: async () => [],
    run: async (_, __, { signal }) => {
      if (cut.length > 0) return
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()))
      cut.push(signal.aborted)
      await new Promise(() => {})
    },
  })
  const end = await startWorker(t, stack, durable, [bind(slow, {})])
  await stack.db.tx((tx) => durable.submit(tx, slow, 'slow:1', null))
  await eventually('the second try', 10_000, async () => durable.counts().stepsDone === 1)
  assert.deepEqual(cut, [true])
  await end()
})

test('a request that the engine has not signed is refused', async (t) => {
  const stack = { ...useStackHere(), prefix: newPrefix() }
  const durable = openDurable(stack)
  const begun: string[] = []
  await startWorker(t, stack, durable, [bind(noteHandler(begun), {})])
  const admin = new Admin({ url: stack.adminUrl, timeoutMs: 5_000 })
  t.after(() => admin.close())
  const [deployment] = (await admin.listDeployments()).filter(({ services }) =>
    services.some((name) => name.startsWith(stack.prefix)),
  )
  for (const path of [`/invoke/${stack.prefix}.chain.take-note/run`, '/discover']) {
    assert.equal(await statusOf(deployment!.endpoint, path), 401)
  }
  assert.deepEqual(begun, [])
})

test('a worker that is asked to end finishes the step in hand', async (t) => {
  const stack = { ...useStackHere(), prefix: newPrefix() }
  const durable = openDurable(stack)
  let begun = 0
  const release = Promise.withResolvers<void>()
  const held = handler<object, null>({
    name: 'chain.hold-on',
    stepTimeoutMs: 30_000,
    outstanding: async () => [],
    run: async () => {
      begun += 1
      await release.promise
    },
  })
  const end = await startWorker(t, stack, durable, [bind(held, {})])
  await stack.db.tx((tx) => durable.submit(tx, held, 'held:1', null))
  await eventually('the step began', 10_000, async () => begun === 1)
  const ended = end()
  release.resolve()
  await ended
  const { stepsDone, stepsFailed } = durable.counts()
  assert.deepEqual({ begun, stepsDone, stepsFailed }, { begun: 1, stepsDone: 1, stepsFailed: 0 })
})

test('invocations that wait for an address that is gone are moved to the one that came instead', async (t) => {
  const stack = { ...useStackHere(), prefix: newPrefix() }
  const before = openDurable(stack)
  let cutOff = 0
  const moving = (run: (signal: AbortSignal) => Promise<void>) =>
    handler<object, null>({
      name: 'chain.move-house',
      stepTimeoutMs: 30_000,
      outstanding: async () => [],
      run: async (_, __, { signal }) => await run(signal),
    })
  const hanging = moving(async (signal) => {
    await new Promise((_resolve, reject) => {
      signal.addEventListener('abort', () => reject(new Error('cut off')))
      cutOff += 1
    })
  })
  const parts = before.worker({
    adminUrl: stack.adminUrl,
    handlers: [bind(hanging, {})],
    identityKeys: [stack.identityKey],
    host: '127.0.0.1',
    port: 0,
    drainMs: 0,
  })
  const end = await startParts(t, [before.sender, ...parts])
  await stack.db.tx((tx) => before.submit(tx, hanging, 'house:1', null))
  await eventually('the step began', 10_000, async () => cutOff === 1)
  await end()
  const after = openDurable(stack)
  await startWorker(t, stack, after, [
    bind(
      moving(async () => {}),
      {},
    ),
  ])
  await eventually('it ran at the new address', 20_000, async () => after.counts().stepsDone === 1)
  const admin = new Admin({ url: stack.adminUrl, timeoutMs: 5_000 })
  t.after(() => admin.close())
  await eventually('the old address is forgotten', 5_000, async () => {
    const all = await admin.listDeployments()
    return all.filter(({ services }) => services.some((name) => name.startsWith(stack.prefix))).length === 1
  })
})

function noteHandler(begun: string[]) {
  return handler<object, string>({
    name: 'chain.take-note',
    stepTimeoutMs: 10_000,
    outstanding: async () => [],
    run: async (_, text) => {
      begun.push(text)
    },
  })
}

async function openInvocations(admin: Admin, prefix: string): Promise<string[]> {
  const rows = await admin.query<{ id: string }>(
    `select id from sys_invocation where target_service_name like '${prefix}.%' and status <> 'completed'`,
  )
  return rows.map(({ id }) => id)
}

async function killInvocations(stack: Stack): Promise<number> {
  const admin = new Admin({ url: stack.adminUrl, timeoutMs: 5_000 })
  try {
    const ids = await openInvocations(admin, stack.prefix)
    for (const id of ids) await fetch(`${stack.adminUrl}/invocations/${id}/kill`, { method: 'PATCH' })
    return ids.length
  } finally {
    await admin.close()
  }
}

async function seenGenerations(stack: Stack): Promise<number[]> {
  const { rows } = await sql<{ seen: number[] }>`select seen from chain.killed`.execute(stack.db.kysely)
  return rows[0]!.seen
}

async function statusOf(endpoint: string, path: string): Promise<number> {
  const session = connect(endpoint)
  try {
    const request = session.request({ ':method': 'POST', ':path': path, 'content-type': 'application/json' })
    request.end('{}')
    return await new Promise((resolve, reject) => {
      request.once('response', (headers) => resolve(Number(headers[':status'])))
      request.once('error', reject)
    })
  } finally {
    session.destroy()
  }
}
