import { becomesTrue } from '../../dev/engines/wait-until.ts'
import { untilDone } from '../responses/background-works.ts'
import { countTokens } from './boxes-on-disk.ts'
import type { SandboxFleet } from './sandbox-fleet.ts'
import { inputOf, tokenOf } from './shell-work.ts'

export interface ShellWork {
  readonly number: number
  readonly responseId: string
}

/** Every so many-th has a way out of its container, every so many-th is cancelled. */
const networkEvery = 4
const cancelEvery = 10
const cancelled = 7
const requestMs = 15_000
const allowedDomain = 'allowed.example.com'

export const isCancelled = (work: number) => work % cancelEvery === cancelled

/** Background responses that are begun a share at a time. */
export class ShellWorks {
  readonly #fleet: SandboxFleet
  readonly #count: number
  readonly #making: Promise<ShellWork>[] = []

  constructor(fleet: SandboxFleet, count: number) {
    this.#fleet = fleet
    this.#count = count
  }

  /** Begins so many that this share of all has been begun. */
  begin(share: number): void {
    while (this.#making.length < Math.min(this.#count, Math.ceil(share * this.#count))) {
      const making = createWork(this.#fleet, this.#making.length + 1)
      making.catch(() => undefined)
      this.#making.push(making)
    }
  }

  /** All of them, once each was accepted. */
  async accepted(): Promise<ShellWork[]> {
    this.begin(1)
    return await Promise.all(this.#making)
  }
}

/** The organisation lets containers out to one domain. */
export async function allowNetwork(fleet: SandboxFleet): Promise<void> {
  const body = { type: 'allowlist', allowed_domains: [allowedDomain] }
  await fetch(`http://127.0.0.1:${fleet.stack.httpPort}/v1/organization/container_network_policy`, {
    method: 'POST',
    headers: { authorization: `Bearer ${fleet.stack.seeded.adminKey}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  }).then(async (reply) => {
    if (!reply.ok) throw new Error(`the network policy was refused: ${await reply.text()}`)
  })
}

async function createWork(fleet: SandboxFleet, number: number): Promise<ShellWork> {
  const client = fleet.client()
  // The key makes the request one, however often its answer is lost.
  const sure = { headers: { 'Idempotency-Key': `shell-work-${number}` }, timeout: requestMs }
  const policy =
    number % networkEvery === 0
      ? { network_policy: { type: 'allowlist' as const, allowed_domains: [allowedDomain] } }
      : {}
  const { id } = await untilDone(() =>
    client.responses.create(
      {
        model: 'double-chat',
        input: inputOf(number),
        background: true,
        tools: [{ type: 'shell', environment: { type: 'container_auto', ...policy } }],
      },
      sure,
    ),
  )
  if (isCancelled(number)) await cancelOnceBegun(fleet, number, id)
  return { number, responseId: id }
}

const begunMs = 120_000

/** Its first command lasts a minute: it is cancelled while that runs. */
async function cancelOnceBegun(fleet: SandboxFleet, number: number, id: string): Promise<void> {
  const client = fleet.client()
  const token = tokenOf(number, 0)
  const begun = async () =>
    countTokens(fleet.hosts.map(({ dir }) => dir)).begun.has(token) ||
    isOver((await untilDone(() => client.responses.retrieve(id))).status)
  await becomesTrue(begun, begunMs)
  if (isOver((await untilDone(() => client.responses.retrieve(id))).status)) return
  await untilDone(() => client.responses.cancel(id))
}

const isOver = (status: string | undefined) => status !== 'queued' && status !== 'in_progress'
