import { explainLimits, type LimitsExplanation } from '@switchyard/contracts/organization/limits-explain.ts'
import { createResponse } from '@switchyard/contracts/responses/operations.ts'
import assert from 'node:assert/strict'
import { becomesTrue } from '../../../../../dev/engines/wait-until.ts'
import type { CallInput } from '../../../../test/call-operation.ts'
import type { TestApp, TestProject } from '../../../../test/test-app.ts'
import type { OrgId } from '@switchyard/contracts/ids.ts'
import type { Limits } from '../module.ts'

const settledWithinMs = 20_000

const noLimits = { requests_per_day: null, tokens_per_minute: null, tokens_per_day: null }

/** A tier of the limits file that has these limits of requests and tokens, and no others that a test would meet. */
export const onlyLimits = (limits: Readonly<Record<string, number | null>>) => ({
  limits: { ...noLimits, requests_per_minute: 1_000, ...limits },
})

/** An organisation of its own, so that nobody else draws on its limits. */
export interface LimitedOrg {
  readonly id: OrgId
  readonly adminKey: string
  readonly project: TestProject
  readonly other: TestProject
}

export async function limitedOrg(app: TestApp, tier: Parameters<Limits['pinTier']>[1]): Promise<LimitedOrg> {
  const { orgId, adminKey } = await app.orgs.createOrganization({ name: 'Limited' })
  await app.wired.limits.pinTier(orgId, tier)
  const project = async (name: string) => {
    const { projectId } = await app.orgs.createProject({ orgId, name })
    const { key } = await app.orgs.mintProjectKey({ orgId, projectId, name: 'test' })
    return { id: projectId, key }
  }
  return { id: orgId, adminKey, project: await project('One'), other: await project('Two') }
}

/** A response of the organisation's first project. */
export const ask = (app: TestApp, org: LimitedOrg, body: Record<string, unknown> = {}, input: CallInput = {}) =>
  app.call(createResponse, { body: { model: 'double-chat', input: 'Hello.', ...body }, key: org.project.key, ...input })

type Reply = Awaited<ReturnType<typeof ask>>

export const requestIdOf = ({ headers }: Pick<Reply, 'headers'>): string => headers.get('x-request-id') ?? ''

/** What the six headers say; null where the three of a kind are left out. */
export function rateOf({ headers }: { readonly headers: Headers }) {
  const read = (what: string) => {
    const [limit, remaining, reset] = ['limit', 'remaining', 'reset'].map((name) =>
      headers.get(`x-ratelimit-${name}-${what}`),
    )
    if (limit == null || remaining == null || reset == null) {
      assert.deepEqual([limit, remaining, reset], [null, null, null], 'all three or none')
      return null
    }
    return { limit: Number(limit), remaining: Number(remaining), resetMs: durationMs(reset) }
  }
  return { requests: read('requests'), tokens: read('tokens') }
}

const unitMs = { h: 3_600_000, m: 60_000, s: 1_000, ms: 1 } as const

/** Reads a duration as Go does: `1h0m0s`, `6m0s`, `1.5s`, `120ms`. */
export function durationMs(text: string): number {
  assert.match(text, /^(?:\d+h)?(?:\d+m)?\d+(?:\.\d+)?(?:s|ms)$/, `${text} is no duration`)
  const parts = [...text.matchAll(/([\d.]+)(ms|h|m|s)/g)]
  return parts.reduce((sum, [, figure, unit]) => sum + Number(figure) * unitMs[unit as keyof typeof unitMs], 0)
}

/** Type, code and whether to ask again of a refusal by a limit. */
export function limitRefusal({ status, error, headers }: Reply): unknown[] {
  return [status, error?.type, error?.code, headers.get('x-should-retry')]
}

export async function explain(app: TestApp, org: LimitedOrg, requestId: string): Promise<LimitsExplanation> {
  const reply = await app.call(explainLimits, { query: { request_id: requestId }, key: org.adminKey })
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}

/** The same, once so many reservations of the request are settled or given back. */
export async function explainSettled(
  app: TestApp,
  org: LimitedOrg,
  requestId: string,
  settlements = 1,
): Promise<LimitsExplanation> {
  let why = await explain(app, org, requestId)
  const settled = async () => {
    why = await explain(app, org, requestId)
    return why.settlements.length >= settlements
  }
  assert.ok(await becomesTrue(settled, settledWithinMs), `not settled: ${JSON.stringify(why)}`)
  return why
}

/** How full the buckets were when the request was decided, by metric and level: `TPM`, `project RPM`. */
export function usedBefore({ decisions }: LimitsExplanation, at = 0): Record<string, number> {
  const buckets = decisions[at]?.buckets ?? []
  return Object.fromEntries(
    buckets.map(({ metric, level, used_before }) => [level === 'project' ? `project ${metric}` : metric, used_before]),
  )
}

/** Asks one after the other until one is refused. */
export async function askUntilRefused(
  app: TestApp,
  org: LimitedOrg,
  body: Record<string, unknown> = {},
  triesMax = 50,
): Promise<{ admitted: Reply[]; refused: Reply }> {
  const admitted: Reply[] = []
  for (let tries = 0; tries < triesMax; tries += 1) {
    const reply = await ask(app, org, body)
    if (reply.status !== 200) return { admitted, refused: reply }
    admitted.push(reply)
  }
  return assert.fail(`nothing was refused within ${triesMax} requests`)
}
