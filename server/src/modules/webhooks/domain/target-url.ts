import { Fault } from '#platform/errors/fault.ts'

/** Which addresses may be given; whether a name may be reached is decided anew at every attempt. */
export interface TargetPolicy {
  readonly httpAllowed: boolean
  /** In dev only: http to this machine. */
  readonly loopbackAllowed: boolean
}

const loopbackHosts = new Set(['localhost', '127.0.0.1', '[::1]'])

const refuse = (message: string) => new Fault('invalid_value', message, { param: 'url' })

export function checkTargetUrl(text: string, policy: TargetPolicy): string {
  if (!URL.canParse(text)) throw refuse('The url is not a valid address.')
  const url = new URL(text)
  if (url.username !== '' || url.password !== '') throw refuse('The url must not carry a user name or password.')
  if (url.hash !== '') throw refuse('The url must not have a fragment.')
  if (url.protocol === 'https:') return url.href
  if (url.protocol !== 'http:') throw refuse('The url must begin with https://.')
  if (policy.httpAllowed || (policy.loopbackAllowed && loopbackHosts.has(url.hostname))) return url.href
  throw refuse('The url must begin with https://.')
}
