import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { startTestServices } from '../../../../../dev/test-services.ts'
import type { TestServices } from '../../../../../dev/test-services.ts'
import { openDatabase } from '../../db/db.ts'
import type { Database } from '../../db/db.ts'
import { scratchDatabase } from '../../db/testing/scratch-database.ts'
import type { ScratchDatabase } from '../../db/testing/scratch-database.ts'
import { createLog } from '../../telemetry/log.ts'
import type { Log } from '../../telemetry/log.ts'
import { createDurable } from '../durable.ts'
import type { Durable } from '../durable.ts'
import { createChainTables } from './chain.ts'

const pollMs = 25

/** A database and an engine for one test file, with a prefix of its own at the engine. */
export interface Stack {
  readonly db: Database
  readonly databaseUrl: string
  readonly ingressUrl: string
  readonly adminUrl: string
  readonly identityKey: string
  readonly prefix: string
  readonly log: Log
}

/** Call at the top of a test file; the stack is there while its tests run. */
export function useStack(): () => Stack {
  let services: TestServices | undefined
  let scratch: ScratchDatabase | undefined
  let stack: Stack | undefined
  before(async () => {
    services = await startTestServices()
    scratch = await scratchDatabase(services.env.SWITCHYARD_TEST_POSTGRES_URL)
    const log = createLog({ level: 'error', pretty: false, name: 'test', destination: process.stderr })
    stack = {
      db: testDatabase(scratch.url),
      databaseUrl: scratch.url,
      ingressUrl: services.env.SWITCHYARD_TEST_RESTATE_INGRESS_URL,
      adminUrl: services.env.SWITCHYARD_TEST_RESTATE_ADMIN_URL,
      identityKey: services.env.SWITCHYARD_TEST_RESTATE_IDENTITY_KEY,
      prefix: newPrefix(),
      log,
    }
    await createChainTables(stack.db)
  })
  after(async () => {
    await stack?.db.close()
    await scratch?.drop()
    await services?.stop()
  })
  return () => {
    assert.ok(stack !== undefined, 'the stack is there only while tests run')
    return stack
  }
}

export function newPrefix(): string {
  return `t${randomBytes(5).toString('hex')}`
}

export function testDatabase(url: string): Database {
  return openDatabase({
    url,
    connectionsMax: 10,
    statementTimeoutMs: 10_000,
    applicationName: 'test',
    onIdleError: () => {},
  })
}

/** The durable layer of one more process of the stack; its parts are the test's to start. */
export function openDurable(stack: Stack, over: { ingressUrl?: string; prefix?: string } = {}): Durable {
  return createDurable({ ...stack, db: stack.db.as(), ...over })
}

/** Asks again and again until the answer is true; fails when the bound has passed. */
export async function eventually(what: string, boundMs: number, condition: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + boundMs
  while (!(await condition())) {
    if (performance.now() > deadline) assert.fail(`not within ${boundMs} ms: ${what}`)
    await delay(pollMs)
  }
}
