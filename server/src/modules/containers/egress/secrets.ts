import { readHostName } from './host-name.ts'

/** As it comes over the control socket. */
export type GivenSecret = { domain: string; name: string; value: string }

/** As it is held: bytes, so that they can be overwritten. The strings they came in and go out as cannot be. */
export type Secret = {
  domain: string
  name: string
  /** The name as header text holds it: one character for each byte. */
  wireName: string
  value: Buffer
}

export const SECRETS_MAX = 64
const NAME_LENGTH_MAX = 256
const VALUE_BYTES_MAX = 16_384

/** A header cannot carry these: with a line break in a value, one header would become two. */
const UNSENDABLE = /[\x00-\x08\x0a-\x1f\x7f]/

/** Throws when one of them could never be applied. The message names no value. */
export function holdSecrets(given: readonly GivenSecret[]): Secret[] {
  if (given.length > SECRETS_MAX) throw new Error(`at most ${SECRETS_MAX} secrets are held for a container`)
  return given.map(({ domain, name, value }) => {
    const host = readHostName(domain)
    if (host === null) throw new Error(`the domain of the secret ${JSON.stringify(name)} is not a host name`)
    if (name === '' || name.length > NAME_LENGTH_MAX) throw new Error('a secret needs a name of at most 256 characters')
    const bytes = Buffer.from(value, 'utf8')
    if (bytes.length > VALUE_BYTES_MAX || UNSENDABLE.test(value)) {
      throw new Error(`the value of the secret ${JSON.stringify(name)} does not fit into a header`)
    }
    return { domain: host, name, wireName: Buffer.from(name, 'utf8').toString('latin1'), value: bytes }
  })
}

export function wipeSecrets(held: readonly Secret[]): void {
  for (const { value } of held) value.fill(0)
}
