const REDACTED = '[redacted]'

/**
 * Fields whose value never reaches a log, at whatever depth they stand. The search finds the `":` that ends a name and looks
 * back from there, which is cheaper than looking forward from every quote of the line.
 */
const SECRET_FIELD =
  /":(?<="(?:value|token|[\w-]{0,40}(?:secrets?|password|passwd|passphrase|authorization|cookie|credentials?|(?:api|access|private|signing|seal)[_-]?keys?|(?:access|refresh|session|bearer|auth|id)[_-]?token))(\\*)":)/gi

/**
 * Keys by their look, wherever they stand: in a message, a stack, a URL. The short prefixes ask for a word boundary; after
 * JSON escaping a newline before a key is the letter n, which counts as a boundary too.
 */
const KEY_LIKE =
  /(sk-(?:proj|svcacct|admin|ads)-|adsk_|whsec_|(?:(?<![A-Za-z0-9_])|(?<=\\[nrtbf])|(?<=\\u[0-9a-f]{4}))(?:ek_|sk-(?=[\w-]{16})))(?:[\w+/=~%-]|\.(?=\w)){6,}/g
const BEARER = /(Bearer\s+)[\w+/=~.%-]{16,}/gi
const URL_PASSWORD = /(:\/\/[^\s:@/"\\]{0,128}:)[^\s@/"\\]{1,512}@/g
const ASSIGNED = /((?:password|passwd|secret|api[_-]?key|access[_-]?token)=)[^\s&"\\;,]{1,512}/gi

/** Takes everything secret out of one finished JSON line. The result is again one JSON line. */
export function scrubLine(line: string): string {
  return scrubText(scrubFields(line))
}

/** The same for plain text. Each search runs only when the text holds the characters that it cannot match without. */
export function scrubText(text: string): string {
  let out = text
  if (out.includes('sk-') || out.includes('sk_') || out.includes('ek_') || out.includes('whsec_')) {
    out = out.replace(KEY_LIKE, '$1…redacted')
  }
  if (out.includes('earer') || out.includes('EARER')) out = out.replace(BEARER, '$1…redacted')
  if (out.includes('@')) out = out.replace(URL_PASSWORD, '$1…redacted@')
  if (out.includes('=')) out = out.replace(ASSIGNED, '$1…redacted')
  return out
}

function scrubFields(line: string): string {
  let out = ''
  let from = 0
  SECRET_FIELD.lastIndex = 0
  for (let found = SECRET_FIELD.exec(line); found !== null; found = SECRET_FIELD.exec(line)) {
    const escapes = found[1] ?? ''
    const start = skipSpaces(line, SECRET_FIELD.lastIndex)
    const end = escapes === '' ? valueEnd(line, start) : quotedValueEnd(line, start, escapes)
    if (!/^(?:null|true|false)$/.test(line.slice(start, end))) {
      out += line.slice(from, start) + escapes + '"' + REDACTED + escapes + '"'
      from = end
    }
    SECRET_FIELD.lastIndex = Math.max(end, SECRET_FIELD.lastIndex)
  }
  return from === 0 ? line : out + line.slice(from)
}

function skipSpaces(line: string, at: number): number {
  let next = at
  while (line[next] === ' ') next++
  return next
}

function valueEnd(line: string, start: number): number {
  const first = line[start]
  if (first === '"') return stringEnd(line, start + 1) + 1
  if (first !== '[' && first !== '{') return scalarEnd(line, start)
  let depth = 0
  for (let at = start; at < line.length; at++) {
    const char = line[at]
    if (char === '"') at = stringEnd(line, at + 1)
    else if (char === '[' || char === '{') depth++
    else if (char === ']' || char === '}') depth--
    if (depth === 0) return at + 1
  }
  return line.length
}

/**
 * A field of JSON that was quoted inside a string. A string value ends at the next quote of the same depth; for anything
 * else the rest of the string around it goes, which loses text but never keeps a secret.
 */
function quotedValueEnd(line: string, start: number, escapes: string): number {
  const outerEnd = stringEnd(line, start)
  const quote = `${escapes}"`
  if (!line.startsWith(quote, start)) {
    const scalar = /^(?:null|true|false|-?\d[\d.eE+-]*)/.exec(line.slice(start, start + 32))
    return scalar === null ? outerEnd : start + scalar[0].length
  }
  let end = line.indexOf(quote, start + quote.length)
  while (end !== -1 && line[end - 1] === '\\') end = line.indexOf(quote, end + 1)
  return end === -1 || end > outerEnd ? outerEnd : end + quote.length
}

/** The index of the quote that ends the string whose text is at `from`. */
function stringEnd(line: string, from: number): number {
  let at = from
  while (at < line.length && line[at] !== '"') at += line[at] === '\\' ? 2 : 1
  return Math.min(at, line.length)
}

function scalarEnd(line: string, start: number): number {
  let at = start
  while (at < line.length && !',]}'.includes(line[at] as string)) at++
  return at
}
