import { Fault } from '#platform/errors/fault.ts'
import { OutboundRefused } from '#platform/outbound/refused.ts'
import { parseTarget, type TargetRules } from '#platform/outbound/target.ts'

/** Which addresses may be given; whether a name may be reached is decided anew at every attempt. */
export interface TargetPolicy {
  readonly httpAllowed: boolean
  /** In dev only: http to this machine. */
  readonly loopbackAllowed: boolean
  /** What the client that sends would refuse without asking anybody. */
  readonly rules: TargetRules
}

const loopbackHosts = new Set(['localhost', '127.0.0.1', '[::1]'])

const refuse = (message: string) => new Fault('invalid_value', message, { param: 'url' })

/** Gives the address in the form that is stored and sent to. Refuses at once what no attempt could ever reach. */
export function checkTargetUrl(text: string, policy: TargetPolicy): string {
  if (!URL.canParse(text)) throw refuse('The url is not a valid address.')
  const url = new URL(text)
  if (url.username !== '' || url.password !== '') throw refuse('The url must not carry a user name or password.')
  if (url.hash !== '') throw refuse('The url must not have a fragment.')
  if (url.protocol !== 'https:' && !mayUseHttp(url, policy)) throw refuse('The url must begin with https://.')
  if (!policy.loopbackAllowed && /(?:^|\.)localhost\.?$/.test(url.hostname)) {
    throw refuse('The host is not on the public internet.')
  }
  try {
    return parseTarget(url, policy.rules).href
  } catch (error) {
    if (error instanceof OutboundRefused) throw refuse(error.message)
    throw error
  }
}

function mayUseHttp(url: URL, policy: TargetPolicy): boolean {
  if (url.protocol !== 'http:') return false
  return policy.httpAllowed || (policy.loopbackAllowed && loopbackHosts.has(url.hostname))
}
