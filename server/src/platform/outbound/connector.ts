import { isIP, type LookupFunction } from 'node:net'
import { buildConnector } from 'undici'
import { checkAddress, type AllowPrivate } from './target.ts'

/** How long one address of several may take before the next is tried beside the connect timeout. */
const ADDRESS_ATTEMPT_MS = 1_000

/**
 * Opens sockets to checked addresses only: names go through `lookup`, which hands out nothing unchecked, and a literal
 * address, for which no lookup happens, is checked here. Counts what is open.
 */
export function createConnector(use: {
  lookup: LookupFunction
  allowPrivate?: AllowPrivate | undefined
  connectTimeoutMs: number
  ca?: string | readonly string[] | undefined
}) {
  let open = 0
  const dial = buildConnector({
    allowH2: false,
    timeout: use.connectTimeoutMs,
    lookup: use.lookup,
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: ADDRESS_ATTEMPT_MS,
    ...(use.ca === undefined ? {} : { ca: [use.ca].flat() }),
  })

  const connect: buildConnector.connector = (options, done) => {
    try {
      if (isIP(options.hostname) !== 0) checkAddress(options.hostname, options.hostname, use.allowPrivate)
    } catch (error) {
      done(error as Error, null)
      return
    }
    dial(options, (error, socket) => {
      if (error !== null) {
        done(error, null)
        return
      }
      open += 1
      socket.once('close', () => (open -= 1))
      done(null, socket)
    })
  }

  return { connect, openCount: () => open }
}
