import { isIP } from 'node:net'

const NAME_MAX = 253
const LABEL = /^(?!-)[a-z0-9_-]{1,63}(?<!-)$/

/** The name as it is compared: lower case, no trailing dot. Null for what is no host name, addresses included. */
export function readHostName(text: string): string | null {
  const name = text.toLowerCase().replace(/\.$/, '')
  if (name === '' || name.length > NAME_MAX || looksLikeAddress(name)) return null
  return name.split('.').every((label) => LABEL.test(label)) ? name : null
}

/** Also 127.1 and 0x7f.1, which some resolvers take for addresses: no top-level domain is a number. */
export function looksLikeAddress(text: string): boolean {
  const bare = text.replace(/^\[|\]$/g, '').replace(/\.$/, '')
  return isIP(bare) !== 0 || bare.includes(':') || /(?:^|\.)(?:\d+|0x[0-9a-f]*)$/i.test(bare)
}

/** Whether a name is on a list. `*.` stands for every sub-domain, never for the domain itself. */
export function isListed(list: readonly string[], name: string): boolean {
  return list.some((element) => {
    const listed = element.toLowerCase().replace(/\.$/, '')
    return listed.startsWith('*.') ? name.endsWith(listed.slice(1)) && name.length >= listed.length : listed === name
  })
}
