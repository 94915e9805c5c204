import { Fault } from '#platform/errors/fault.ts'

/** Schemas of functions may well describe a field of that name. */
const described = new Set(['parameters', 'format'])

function holdsSecrets(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false
  if (Array.isArray(value)) return value.some(holdsSecrets)
  return Object.entries(value).some(([name, held]) => {
    if (name === 'domain_secrets') return held !== null
    return !described.has(name) && holdsSecrets(held)
  })
}

/** A file of requests is stored before any of them runs, and a secret never is. The others of its batch go on. */
export function refuseSecrets({ tools }: Record<string, unknown>): void {
  const at = Array.isArray(tools) ? tools.findIndex(holdsSecrets) : -1
  if (at < 0) return
  const message = 'domain_secrets are not taken where a request is stored before it runs. Send it by itself.'
  throw new Fault('secrets_not_allowed', message, { param: `tools[${at}]` })
}
