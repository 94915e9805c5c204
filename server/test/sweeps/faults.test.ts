import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { faults, type FaultCode, type FaultEntry } from '@switchyard/contracts/errors.ts'
import type { Operation } from '@switchyard/contracts/operation.ts'
import { operations } from '@switchyard/contracts/operations.ts'
import { sweptOperations } from './examples.ts'
import type { FaultCase, Provocation } from './fault-cases/fault-case.ts'
import { batchFaults } from './fault-cases/batches.ts'
import { containerFaults } from './fault-cases/containers.ts'
import { conversationFaults } from './fault-cases/conversations.ts'
import { evalFaults } from './fault-cases/evals.ts'
import { fileFaults } from './fault-cases/files.ts'
import { inferenceFaults } from './fault-cases/inference.ts'
import {
  adminApiKeyFaults,
  adsApiKeyFaults,
  auditLogFaults,
  containerNetworkPolicyFaults,
  inviteFaults,
  userFaults,
} from './fault-cases/organization.ts'
import { projectApiKeyFaults, projectFaults, projectUserFaults, serviceAccountFaults } from './fault-cases/projects.ts'
import {
  limitsExplainFaults,
  paymentFaults,
  projectRateLimitFaults,
  spendLimitFaults,
  vectorStoreFaults,
} from './fault-cases/limits.ts'
import { responseFaults } from './fault-cases/responses.ts'
import { skillFaults } from './fault-cases/skills.ts'
import { webhookFaults } from './fault-cases/webhooks.ts'
import { ask, ownPlace, type Place } from './place.ts'
import { sendRaw } from './raw-request.ts'
import { snapshot } from './snapshot.ts'
import { sweepApp } from './sweep-app.ts'

const cases: Readonly<Record<string, Readonly<Partial<Record<FaultCode, FaultCase>>>>> = {
  ...fileFaults,
  ...projectFaults,
  ...projectApiKeyFaults,
  ...serviceAccountFaults,
  ...projectUserFaults,
  ...userFaults,
  ...inviteFaults,
  ...adminApiKeyFaults,
  ...adsApiKeyFaults,
  ...containerNetworkPolicyFaults,
  ...auditLogFaults,
  ...limitsExplainFaults,
  ...paymentFaults,
  ...projectRateLimitFaults,
  ...spendLimitFaults,
  ...vectorStoreFaults,
  ...webhookFaults,
  ...inferenceFaults,
  ...responseFaults,
  ...conversationFaults,
  ...skillFaults,
  ...containerFaults,
  ...batchFaults,
  ...evalFaults,
}

const declared = ({ id, faults: codes = [] }: Operation) => codes.map((code) => `${id}: ${code}`)

test('the table of faults holds a case for everything that is declared, and nothing else', () => {
  const held = Object.entries(cases).flatMap(([id, byCode]) => Object.keys(byCode).map((code) => `${id}: ${code}`))
  assert.deepEqual(held.toSorted(), operations.flatMap(declared).toSorted())
})

/** A refusal over the wire, whichever way the request was made. */
async function provoke(
  place: Place,
  operation: Operation,
  { raw, headers, key, leaves: _leaves, undo: _undo, ...input }: Provocation,
) {
  if (raw !== undefined) {
    const reply = await sendRaw(place, operation, input, raw)
    return { ...reply, shouldRetry: reply.headers['x-should-retry'] ?? null }
  }
  const reply = await ask(place, operation, { ...input, ...(headers && { headers }), ...(key && { key }) })
  return { ...reply, shouldRetry: reply.headers.get('x-should-retry') }
}

type Reply = Awaited<ReturnType<typeof provoke>>

function assertIsAs(code: FaultCode, { param }: Provocation, reply: Reply): void {
  const entry: FaultEntry = faults[code]
  assert.equal(reply.status, entry.status, reply.text)
  const { message, ...rest } = reply.error ?? { message: '' }
  assert.deepEqual(rest, { type: entry.type, code: entry.wireCode ?? code, param })
  assert.ok(message.length > 10)
  assert.equal(reply.shouldRetry, entry.retry === undefined ? null : String(entry.retry))
}

interface Declared {
  readonly operation: Operation
  readonly code: FaultCode
  readonly faultCase: FaultCase
}

function allDeclared(): Declared[] {
  return sweptOperations().flatMap((operation) =>
    (operation.faults ?? []).map((code) => {
      const faultCase = cases[operation.id]?.[code]
      assert.ok(faultCase !== undefined)
      return { operation, code, faultCase }
    }),
  )
}

const nothingChanged = 'a refused request changed something'

// Each on an app of its own; the second one waits.
describe('faults', { concurrency: true }, () => {
  test('every fault that an operation declares can be met, as the catalogue says, and changes nothing', async (t) => {
    const app = await sweepApp(t)
    const place = ownPlace(app)
    for (const { operation, code, faultCase } of allDeclared().filter((one) => one.faultCase.waits !== true)) {
      await t.test(`${operation.id}: ${code}`, async () => {
        const provocation = await faultCase(place)
        const before = await snapshot(app)
        assertIsAs(code, provocation, await provoke(place, operation, provocation))
        if (provocation.leaves !== true) assert.deepEqual(await snapshot(app), before, nothingChanged)
        await provocation.undo?.()
      })
    }
  })

  test('so can every fault that comes after a wait', async (t) => {
    const app = await sweepApp(t)
    const place = ownPlace(app)
    const provoked: (Declared & { provocation: Provocation })[] = []
    for (const one of allDeclared().filter(({ faultCase }) => faultCase.waits === true)) {
      provoked.push({ ...one, provocation: await one.faultCase(place) })
    }
    const before = await snapshot(app)
    const replies = provoked.map(({ operation, provocation }) => provoke(place, operation, provocation))
    for (const [at, { operation, code, provocation }] of provoked.entries()) {
      await t.test(`${operation.id}: ${code}`, async () => {
        const reply = await replies[at]
        assert.ok(reply !== undefined)
        assertIsAs(code, provocation, reply)
      })
    }
    assert.deepEqual(await snapshot(app), before, nothingChanged)
  })
})
