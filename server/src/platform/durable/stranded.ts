import type { Log } from '../telemetry/log.ts'
import { AdminRefused } from './admin.ts'
import type { Admin, Deployment } from './admin.ts'

export interface StrandedOptions {
  readonly admin: Admin
  readonly log: Log
  readonly prefix: string
  readonly services: readonly { name: string }[]
  readonly uri: string
  readonly deployments: readonly Deployment[]
}

const invocationsMax = 5_000
const movesAtOnceMax = 8
const resumeTriesMax = 5

/**
 * Invocations that wait for an address where nobody answers any more are paused and resumed on the latest deployment.
 * It only saves time: left alone, they would be killed after their last retry, and the sweep would find their rows.
 * Moving is always safe, because a journal of ours holds nothing but the input.
 */
export async function moveStranded(options: StrandedOptions): Promise<number> {
  const { admin, log, prefix } = options
  const others = options.deployments.filter(({ endpoint, services }) => {
    return endpoint !== options.uri && services.length > 0 && services.every((name) => name.startsWith(`${prefix}.`))
  })
  const gone: Deployment[] = []
  for (const deployment of others) if (!(await admin.reaches(deployment.endpoint))) gone.push(deployment)
  const ids = await findStranded(options, gone)
  const waiting = [...ids]
  let moved = 0
  const lane = async () => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) if (await moveOne(admin, id)) moved += 1
  }
  await Promise.all(Array.from({ length: Math.min(movesAtOnceMax, ids.length) }, lane))
  if (ids.length > 0) log.info({ moved, found: ids.length }, 'moved invocations from an address that is gone')
  for (const deployment of gone) await forget(options, deployment)
  return moved
}

async function findStranded({ admin, services }: StrandedOptions, gone: readonly Deployment[]): Promise<string[]> {
  // SQL has no empty list, and without a handler nothing can be stranded.
  if (services.length === 0) return []
  const names = quoted(services.map(({ name }) => name))
  const places = quoted(gone.map(({ id }) => id))
  const there =
    gone.length === 0
      ? ''
      : `or (status in ('backing-off', 'suspended')
           and (pinned_deployment_id in (${places}) or last_attempt_deployment_id in (${places})))`
  // Paused ones are ours too: an earlier mover may have died between its two requests.
  const rows = await admin.query<{ id: string }>(
    `select id from sys_invocation where target_service_name in (${names}) and (status = 'paused' ${there})
     limit ${invocationsMax}`,
  )
  return rows.map(({ id }) => id)
}

async function moveOne(admin: Admin, id: string): Promise<boolean> {
  await ifRefused(() => admin.pause(id))
  // Pausing is asked for, not done, when the answer comes; until then a resume elsewhere is refused.
  for (let tries = 0; tries < resumeTriesMax; tries += 1) {
    if (await ifRefused(() => admin.resume(id, 'latest'))) return true
  }
  return await ifRefused(() => admin.resume(id, 'where it was'))
}

/** An address that nobody answers at and nothing waits for would be asked about for ever. */
async function forget({ admin, log }: StrandedOptions, { id, endpoint }: Deployment): Promise<void> {
  const [row] = await admin.query<{ waiting: number }>(
    `select count(*) as waiting from sys_invocation where pinned_deployment_id = '${id}' and status <> 'completed'`,
  )
  if (row?.waiting !== 0) return
  if (await ifRefused(() => admin.removeDeployment(id))) log.info({ endpoint }, 'forgot an address that is gone')
}

async function ifRefused(ask: () => Promise<void>): Promise<boolean> {
  try {
    await ask()
    return true
  } catch (error) {
    if (error instanceof AdminRefused) return false
    throw error
  }
}

function quoted(names: readonly string[]): string {
  return names.map((name) => `'${name}'`).join(', ')
}
