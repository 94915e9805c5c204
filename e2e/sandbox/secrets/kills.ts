import { becomesTrue } from '../../../dev/engines/wait-until.ts'
import { signalProcess } from '../../../dev/processes.ts'
import type { Checks } from '../../load/checks.ts'
import { egressOf } from '../fleet-folder.ts'
import type { SandboxFleet } from '../sandbox-fleet.ts'
import type { Asking } from './asking.ts'
import { begin, outsideHas, readEnd, type Done } from './carry-out.ts'
import type { Outside } from './outside.ts'
import type { Work } from './script.ts'

export interface Killing {
  readonly fleet: SandboxFleet
  readonly asking: Asking
  readonly outside: Outside
  readonly checks: Checks
}

const expiredMs = 60_000

function onlyHost({ hosts: [host] }: SandboxFleet) {
  if (host === undefined) throw new Error('there is no sandbox host')
  return host
}

async function beginAll({ asking, outside }: Killing, works: readonly Work[]): Promise<string[]> {
  const ids = await Promise.all(works.map((work) => begin(asking, work)))
  await outsideHas(
    outside,
    works.map(({ number }) => `${number}-before`),
  )
  return ids
}

/** The role falls under running commands; the proxy, which has the secrets, does not. */
export async function killHost(use: Killing, works: readonly Work[]): Promise<Done[]> {
  const { node, dir } = onlyHost(use.fleet)
  const proxy = egressOf(dir)
  const ids = await beginAll(use, works)
  const { pid } = await proxy.ping()
  await node.process.kill9()
  await outsideHas(
    use.outside,
    works.map(({ number }) => `${number}-during`),
  )
  await node.process.start()
  await node.waitReady()
  const done = await Promise.all(ids.map((id, at) => readEnd(use.asking, works[at] as Work, id)))
  const wrong = done.filter(({ status }) => status !== 'completed')
  use.checks.expect(
    'with its host killed -9 a response completes: the proxy kept the secrets and applied them meanwhile',
    wrong.length === 0 && (await proxy.ping()).pid === pid,
    [`${done.length} responses`, ...wrong.map(({ status, message }) => `${status} ${message}`)].join('; '),
  )
  return done
}

/** The proxy falls: secrets are nowhere any more, and everything that had some says so. */
export async function killProxy(use: Killing, works: readonly Work[], idle: readonly string[]): Promise<Done[]> {
  const { fleet, asking, checks } = use
  const proxy = egressOf(onlyHost(fleet).dir)
  const ids = await beginAll(use, works)
  const { pid } = await proxy.ping()
  signalProcess(pid, 'SIGKILL')
  const done = await Promise.all(ids.map((id, at) => readEnd(asking, works[at] as Work, id)))
  const odd = done.filter(({ status, message }) => status !== 'failed' || !/egress proxy/.test(message))
  checks.expect(
    'with the proxy killed a response fails and says that the secrets are gone',
    odd.length === 0,
    [`${done.length} responses: ${done[0]?.message}`, ...odd.map(({ status, message }) => `${status} ${message}`)].join(
      '; ',
    ),
  )
  const containers = [...idle, ...done.flatMap(({ containerId }) => containerId ?? [])]
  const views: string[] = []
  const isExpired = async () => {
    views.length = 0
    for (const id of containers) {
      const { body } = await asking.ask('GET', `/containers/${id}`)
      views.push(`${String(body['status'])}: ${String(body['status_reason'])}`)
    }
    return views.every((view) => /^expired: .*egress proxy/.test(view))
  }
  checks.expect(
    'every container that had secrets is expired and says why, idle ones too',
    (await becomesTrue(isExpired, expiredMs)) && containers.length > 0,
    `${containers.length} containers: ${[...new Set(views)].join('; ')}`,
  )
  const environment = { type: 'container_reference', container_id: containers[0] }
  const late = await asking.ask('POST', '/responses', {
    model: 'double-chat',
    input: 'Go on.',
    tools: [{ type: 'shell', environment }],
  })
  const error = late.body['error'] as { code?: string; message?: string } | undefined
  checks.expect(
    'a request for such a container is refused and says why',
    late.status === 400 && error?.code === 'container_expired' && /egress proxy/.test(error.message ?? ''),
    `${late.status} ${error?.code}: ${error?.message}`,
  )
  return done
}
