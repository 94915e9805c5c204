import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { Tx } from '#platform/db/tx.ts'
import { Fault } from '#platform/errors/fault.ts'
import { uploadRoute } from './route.ts'
import { key, testServer, type TestServerGiven } from './testing/test-server.ts'
import { uploadOperation } from './testing/upload.ts'

const lost = () => Object.assign(new Error('Connection terminated unexpectedly'), { code: 'ECONNRESET' })
type Transact = NonNullable<TestServerGiven['db']>['tx']

/** Uploads one file to a route that commits, over a connection to the database that fails as `tx` says. */
async function upload(t: TestContext, tx: Transact, decide: () => Promise<unknown>, discard = async () => undefined) {
  let discarded = 0
  const app = await testServer(t, {
    db: { tx },
    routes: [
      uploadRoute(
        uploadOperation(1_000),
        {
          async receive({ stream }) {
            await stream.toArray()
            return { sha256: 'x' }
          },
          async discard() {
            discarded += 1
            await discard()
          },
        },
        async ({ commit }) => commit(decide),
      ),
    ],
  })
  const body = new FormData()
  body.set('purpose', 'evals')
  body.set('file', new Blob(['hello']), 'a.txt')
  const { status } = await fetch(`${app.url}/v1/things`, { method: 'POST', headers: key, body })
  return { status, discarded, lines: await app.lines() }
}

const works: Transact = async (decide) => decide(new Tx(undefined as never))

test('a file whose decision failed is thrown away', async (t) => {
  const refused = await upload(t, works, async () => {
    throw new Fault('already_exists', 'It is there.')
  })
  assert.deepEqual([refused.status, refused.discarded], [409, 1])
})

test('a file whose row may have been committed is kept, though the answer was lost', async (t) => {
  const commitLost: Transact = async (decide) => {
    await decide(new Tx(undefined as never))
    throw lost()
  }
  const { status, discarded } = await upload(t, commitLost, async () => ({}))
  assert.deepEqual([status, discarded], [503, 0])
})

test('a file is thrown away when the connection was lost before the commit', async (t) => {
  const beginLost: Transact = async () => {
    throw lost()
  }
  const { status, discarded } = await upload(t, beginLost, async () => ({}))
  assert.deepEqual([status, discarded], [503, 1])
})

test('a file that cannot be thrown away does not hide why the request failed', async (t) => {
  const { status, lines } = await upload(
    t,
    works,
    async () => {
      throw new Fault('already_exists', 'It is there.')
    },
    async () => {
      throw new Error('the store is away')
    },
  )
  assert.equal(status, 409)
  assert.ok(lines.some(({ level, msg }) => level === 'warn' && msg === 'a received file could not be discarded'))
})
