import type { Secret } from './secrets.ts'

export type Replaced =
  | {
      kind: 'replaced'
      text: string
      count: number
      /** The form in which the value leaves here, when that is not the value itself, and what stood in its place. */
      encoded?: { sent: string; given: string }
    }
  | { kind: 'foreign'; name: string }

/**
 * Puts the values of one host in the place of `$NAME`. The environment of a command holds `$NAME` as text, which
 * programs put together with other text, so nothing needs to follow the name; the longest name wins. A name whose secret
 * belongs to another host only is reported instead.
 */
export function replacePlaceholders(text: string, host: string, secrets: readonly Secret[]): Replaced {
  let out = ''
  let at = 0
  let count = 0
  for (let sign = text.indexOf('$'); sign !== -1; sign = text.indexOf('$', at)) {
    const meant = longestAt(text, sign + 1, secrets)
    if (meant === null) {
      out += text.slice(at, sign + 1)
      at = sign + 1
      continue
    }
    const own = secrets.find(({ wireName, domain }) => wireName === meant && domain === host)
    if (own === undefined) return { kind: 'foreign', name: meant }
    // Latin-1 is how header values cross the HTTP code, byte by byte.
    out += text.slice(at, sign) + own.value.toString('latin1')
    at = sign + 1 + meant.length
    count += 1
  }
  return { kind: 'replaced', text: out + text.slice(at), count }
}

/** The first secret that a text names, or null. Percent-encoded dollar signs count too: URLs write them so. */
export function namesSecret(text: string, secrets: readonly Secret[]): string | null {
  const plain = text.replaceAll(/%24/gi, '$')
  for (let sign = plain.indexOf('$'); sign !== -1; sign = plain.indexOf('$', sign + 1)) {
    const name = longestAt(plain, sign + 1, secrets)
    if (name !== null) return name
  }
  return null
}

const BASIC = /^(basic +)([A-Za-z0-9+/_-]+={0,2})$/i

/** One header value: as it is, and inside Basic credentials, which hide the placeholder behind base64. */
export function replaceInHeader(value: string, host: string, secrets: readonly Secret[]): Replaced {
  const basic = BASIC.exec(value)
  if (basic === null) return replacePlaceholders(value, host, secrets)
  const inner = replacePlaceholders(Buffer.from(basic[2] ?? '', 'base64').toString('latin1'), host, secrets)
  if (inner.kind === 'foreign' || inner.count === 0) return inner.kind === 'foreign' ? inner : unchanged(value)
  const encoded = Buffer.from(inner.text, 'latin1').toString('base64')
  return { ...inner, text: `${basic[1] ?? ''}${encoded}`, encoded: { sent: encoded, given: basic[2] ?? '' } }
}

const unchanged = (text: string): Replaced => ({ kind: 'replaced', text, count: 0 })

function longestAt(text: string, at: number, secrets: readonly Secret[]): string | null {
  let longest: string | null = null
  for (const { wireName } of secrets) {
    if (text.startsWith(wireName, at) && wireName.length > (longest?.length ?? 0)) longest = wireName
  }
  return longest
}
