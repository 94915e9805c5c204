import { connect, isIPv6, type LookupFunction, type Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { OutboundRefused } from '#platform/outbound/refused.ts'
import type { Reason } from './reasons.ts'

/** Opens a connection to a host, by addresses that were all checked. Throws DialFailed. */
export type Dial = (host: string, port: number, secure: boolean) => Promise<Socket>

export class DialFailed extends Error {
  override readonly name = 'DialFailed'
  readonly reason: Reason

  constructor(reason: Reason, options?: { cause?: unknown }) {
    super(reason, options)
    this.reason = reason
  }
}

const CONNECT_TIMEOUT_MS = 10_000
/** How long one address of several may take before the next is tried. */
const ADDRESS_ATTEMPT_MS = 1_000

/** `addressesOf` resolves and checks; what it gave is all that the socket can dial, whatever the name says a moment later. */
export function createDial(addressesOf: (host: string) => Promise<readonly string[]>): Dial {
  return async (host, port, secure) => {
    const addresses = await checkedAddresses(addressesOf, host)
    const target = {
      host,
      port,
      lookup: pinned(addresses),
      autoSelectFamily: true,
      autoSelectFamilyAttemptTimeout: ADDRESS_ATTEMPT_MS,
      allowHalfOpen: true,
    }
    const socket = secure
      ? connectTls({ ...target, servername: host, ALPNProtocols: ['http/1.1'], minVersion: 'TLSv1.2' })
      : connect(target)
    return await opened(socket, secure)
  }
}

async function checkedAddresses(addressesOf: (host: string) => Promise<readonly string[]>, host: string) {
  try {
    return await addressesOf(host)
  } catch (error) {
    const reason = error instanceof OutboundRefused && error.reason === 'address_not_allowed'
    throw new DialFailed(reason ? 'address_not_allowed' : 'name_not_resolved', { cause: error })
  }
}

function pinned(addresses: readonly string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }))
  return (_host, options, done) => {
    if (options.all === true) done(null, found)
    else done(null, found[0]?.address ?? '', found[0]?.family)
  }
}

function opened(socket: Socket, secure: boolean): Promise<Socket> {
  return new Promise((resolve, reject) => {
    let connected = false
    const fail = (cause?: unknown) => {
      clearTimeout(timer)
      socket.destroy()
      reject(new DialFailed(secure && connected ? 'tls_failed' : 'connect_failed', { cause }))
    }
    const timer = setTimeout(fail, CONNECT_TIMEOUT_MS)
    socket.once('connect', () => (connected = true))
    socket.once('error', fail)
    socket.once(secure ? 'secureConnect' : 'connect', () => {
      clearTimeout(timer)
      socket.off('error', fail)
      // Whoever takes it adds a listener of its own; until then an error must not end the process.
      socket.on('error', () => socket.destroy())
      resolve(socket)
    })
  })
}
