import type { KeyId } from '@switchyard/contracts/ids.ts'
import { z } from 'zod'
import { SealBroken, type Sealer } from '#platform/secrets/seal.ts'
import { systemClock, type Clock } from '#platform/std/clock.ts'
import type { Authenticate, Principal, ProjectScope } from '../principal.ts'

/** A session that has been signed in, and what its key is good for. */
export interface Reader {
  readonly scope: ProjectScope
  readonly granted: Principal['granted']
}

export interface SessionsUse {
  readonly authenticate: Authenticate
  /** The holder of a key that is in force; null when it is not any more. */
  readonly principalOf: (keyId: KeyId) => Promise<Principal | null>
  readonly sealer: Pick<Sealer, 'seal' | 'open'>
  readonly clock?: Clock
}

export interface Sessions {
  /** By its key, as the API takes it. Null unless it is a project key in force. */
  byKey(key: string): Promise<Reader | null>
  byCookie(header: string | undefined): Promise<Reader | null>
  /** The cookie that keeps a reader signed in. It names the key and does not hold it. */
  cookieFor(reader: Reader, secure: boolean): string
  endCookie(secure: boolean): string
}

const cookieName = 'switchyard_session'
const lifetimeSeconds = 12 * 60 * 60
/** Longer than any key we mint, and than any cookie we set. */
const keyMax = 200
const cookieMax = 1_024
const purpose = 'http.session'

const Sealed = z.strictObject({ key: z.string(), project: z.string(), until: z.int() })

export function createSessions(use: SessionsUse): Sessions {
  const { clock = systemClock } = use
  const nowSeconds = () => Math.floor(clock.now().getTime() / 1_000)
  const cookie = (value: string, seconds: number, secure: boolean) =>
    `${cookieName}=${value}; Path=/dashboard; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`
  return {
    async byKey(key) {
      return key.length > keyMax ? null : readerOf(await use.authenticate(key))
    },
    async byCookie(header) {
      const value = cookieOf(header)
      const session = value === null ? null : opened(use.sealer, value)
      if (session === null || session.until <= nowSeconds()) return null
      const reader = readerOf(await use.principalOf(session.key as KeyId))
      return reader?.scope.projectId === session.project ? reader : null
    },
    cookieFor({ scope }, secure) {
      const session = { key: scope.keyId, project: scope.projectId, until: nowSeconds() + lifetimeSeconds }
      return cookie(use.sealer.seal(JSON.stringify(session), purpose), lifetimeSeconds, secure)
    },
    endCookie: (secure) => cookie('', 0, secure),
  }
}

function readerOf(principal: Principal | null): Reader | null {
  if (principal?.scope.kind !== 'project_key') return null
  return { scope: principal.scope, granted: principal.granted }
}

function cookieOf(header = ''): string | null {
  const pairs = header.split(';').map((pair) => pair.trim())
  const value = pairs.find((pair) => pair.startsWith(`${cookieName}=`))?.slice(cookieName.length + 1) ?? ''
  return value === '' || value.length > cookieMax ? null : value
}

function opened(sealer: Pick<Sealer, 'open'>, value: string): z.infer<typeof Sealed> | null {
  try {
    return Sealed.parse(JSON.parse(sealer.open(value, purpose).toString()))
  } catch (error) {
    // Made up, damaged, or of a sealing key that is gone: whoever holds it signs in again.
    if (error instanceof SealBroken) return null
    throw error
  }
}
