import { Fault } from '#platform/errors/fault.ts'

/** Fields that exist in the API and that this server cannot honour: null says nothing, any value is refused by name. */
export function refuseUnsupported(fields: Readonly<Record<string, unknown>>): void {
  for (const [param, value] of Object.entries(fields)) {
    if (value !== null && value !== undefined) {
      throw new Fault('unsupported_value', `This server does not support a value for '${param}'.`, { param })
    }
  }
}

/** Everything lives where the deployment is: only `GLOBAL` is true. */
export function refuseResidency(fields: {
  residency?: string | null | undefined
  geography?: string | null | undefined
}): void {
  if (typeof fields.residency === 'string' && typeof fields.geography === 'string') {
    throw new Fault('mutually_exclusive_parameters', "Send 'residency' or 'geography', not both.", {
      param: 'geography',
    })
  }
  for (const [param, value] of Object.entries(fields)) {
    if (typeof value === 'string' && value !== 'GLOBAL') {
      throw new Fault('unsupported_value', `This server supports only 'GLOBAL' for '${param}'.`, { param })
    }
  }
}
