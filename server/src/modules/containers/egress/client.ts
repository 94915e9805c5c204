import { request } from 'node:http'
import { join } from 'node:path'
import type { ControlName, ControlOperations } from './control.ts'
import type { Attached, AttachGiven } from './proxy.ts'
import type { ReceiptPage } from './receipts.ts'
import type { Organization } from './rules.ts'
import type { GivenSecret } from './secrets.ts'

const TIMEOUT_MS = 15_000
const REPLY_BYTES_MAX = 16 * 1_048_576

/** The proxy did not answer, or would not. `gone` tells the first from the second. */
export class EgressFailed extends Error {
  override readonly name = 'EgressFailed'
  readonly gone: boolean

  constructor(message: string, gone: boolean, options?: { cause?: unknown }) {
    super(message, options)
    this.gone = gone
  }
}

export const controlSocketOf = (folder: string): string => join(folder, 'control.sock')

/** Speaks to the egress proxy of this machine. Every call is one request; nothing is kept open. */
export function createEgressClient(folder: string) {
  const socketPath = controlSocketOf(folder)
  const call = <Name extends ControlName>(name: Name, given: ControlOperations[Name]['given']) =>
    ask(socketPath, name, given) as Promise<ControlOperations[Name]['reply']>
  return {
    ping: () => call('ping', {}),
    /** Has the proxy read its settings file again. */
    reload: async (): Promise<void> => void (await call('reload', {})),
    /** Hands secrets over before the container exists. They are dropped after 15 minutes unless kept or attached. */
    park: async (containerId: string, secrets: readonly GivenSecret[]): Promise<void> =>
      void (await call('park', { containerId, secrets })),
    /** Holds parked secrets without a time limit. False when there are none any more. */
    keep: async (containerId: string): Promise<boolean> => (await call('keep', { containerId })).held,
    /** Opens the container's way out. May be asked again after a restart: secrets, authority and connections stay. */
    attach: (given: AttachGiven): Promise<Attached> => call('attach', given),
    setOrganization: async (organizationId: string, organization: Organization): Promise<void> =>
      void (await call('setOrganization', { organizationId, ...organization })),
    /** Closes the way out, cuts what is open and forgets secrets, parked ones too. False when nothing was known. */
    detach: async (containerId: string): Promise<boolean> => (await call('detach', { containerId })).detached,
    list: async () => (await call('list', {})).containers,
    receipts: (after: number): Promise<ReceiptPage> => call('receipts', { after }),
  }
}

export type EgressClient = ReturnType<typeof createEgressClient>

function ask(socketPath: string, name: string, given: unknown): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const gone = (cause?: unknown) => reject(new EgressFailed('The egress proxy does not answer.', true, { cause }))
    const options = { socketPath, path: `/${name}`, method: 'POST', agent: false, timeout: TIMEOUT_MS } as const
    const outgoing = request(options, (reply) => {
      const chunks: Buffer[] = []
      let length = 0
      reply.on('data', (chunk: Buffer) => {
        length += chunk.length
        if (length > REPLY_BYTES_MAX) outgoing.destroy(new Error('the reply is too large'))
        else chunks.push(chunk)
      })
      reply.on('error', gone)
      reply.on('end', () => {
        const body = JSON.parse(Buffer.concat(chunks).toString('utf8')) as { error?: string }
        if (reply.statusCode === 200) resolve(body)
        else reject(new EgressFailed(body.error ?? 'The egress proxy refused.', false))
      })
    })
    outgoing.on('timeout', () => outgoing.destroy(new Error('timed out')))
    outgoing.on('error', gone)
    outgoing.end(JSON.stringify(given))
  })
}
