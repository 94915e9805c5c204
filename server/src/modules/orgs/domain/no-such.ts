import { Fault } from '#platform/errors/fault.ts'

type Thing = 'project' | 'API key' | 'service account' | 'user' | 'invite' | 'ad account'

/** The same words for what never was and for what belongs to others. */
export function noSuch(thing: Thing, param?: string): Fault {
  return new Fault('not_found', `No such ${thing}.`, { param })
}
