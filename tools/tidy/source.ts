/** A file as the rules see it: the text, and the same text with comments and the insides of strings blanked. */
export interface Source {
  path: string
  text: string
  code: string
  strings: StringLiteral[]
}

export interface StringLiteral {
  line: number
  text: string
}

export interface Import {
  line: number
  specifier: string
  typeOnly: boolean
  /** `import('…')`: loaded when the line runs, not when the file is. */
  deferred: boolean
}

/**
 * Blanks comments, strings, templates and regular expressions, so that a rule matching on code cannot be fooled by
 * text. Every character keeps its place: positions in `code` are positions in `text`.
 */
export function readSource(path: string, text: string): Source {
  const out = text.split('')
  const strings: StringLiteral[] = []
  // Each entry is the brace depth at which a `${` was opened; its closing brace returns to the template.
  const templates: number[] = []
  let depth = 0
  let at = 0

  const blank = (from: number, to: number) => {
    for (let i = from; i < to; i += 1) if (out[i] !== '\n') out[i] = ' '
  }
  const endString = (from: number, to: number) => {
    strings.push({ line: lineAt(text, from), text: text.slice(from, to) })
    blank(from, to)
  }
  /** Reads template text from `from` to its next `${` or its end; returns where code or the rest goes on. */
  const readTemplate = (from: number): number => {
    let i = from
    while (i < text.length && text[i] !== '`' && !(text[i] === '$' && text[i + 1] === '{'))
      i += text[i] === '\\' ? 2 : 1
    endString(from, Math.min(i, text.length))
    if (text[i] !== '$') return i + 1
    templates.push(depth)
    depth += 1
    return i + 2
  }

  while (at < text.length) {
    const char = text[at]
    const next = text[at + 1]
    if (char === '/' && (next === '/' || next === '*')) {
      const end = next === '/' ? text.indexOf('\n', at) : text.indexOf('*/', at + 2)
      const to = end === -1 ? text.length : end + (next === '*' ? 2 : 0)
      blank(at, to)
      at = to
    } else if (char === "'" || char === '"') {
      const to = endOfQuoted(text, at, char)
      endString(at + 1, to)
      at = to + 1
    } else if (char === '`') {
      at = readTemplate(at + 1)
    } else if (char === '/' && startsRegex(out, at)) {
      const to = endOfRegex(text, at)
      blank(at + 1, to)
      at = to + 1
    } else if (char === '}' && templates.at(-1) === depth - 1) {
      templates.pop()
      depth -= 1
      at = readTemplate(at + 1)
    } else {
      if (char === '{') depth += 1
      if (char === '}') depth -= 1
      at += 1
    }
  }
  return { path, text, code: out.join(''), strings }
}

export function lineAt(text: string, position: number): number {
  let line = 1
  for (let i = text.indexOf('\n'); i !== -1 && i < position; i = text.indexOf('\n', i + 1)) line += 1
  return line
}

function endOfQuoted(text: string, start: number, quote: string): number {
  let i = start + 1
  while (i < text.length && text[i] !== quote && text[i] !== '\n') i += text[i] === '\\' ? 2 : 1
  return Math.min(i, text.length)
}

function endOfRegex(text: string, start: number): number {
  let inClass = false
  let i = start + 1
  for (; i < text.length && text[i] !== '\n'; i += 1) {
    if (text[i] === '\\') i += 1
    else if (text[i] === '[') inClass = true
    else if (text[i] === ']') inClass = false
    else if (text[i] === '/' && !inClass) break
  }
  return i
}

/** A slash begins a regular expression unless a value stands before it, in which case it divides. */
function startsRegex(out: string[], at: number): boolean {
  let i = at - 1
  while (i >= 0 && /\s/.test(out[i] ?? '')) i -= 1
  if (i < 0) return true
  const before = out[i] ?? ''
  if (!/[\w$)\]'"`]/.test(before)) return true
  const word = out.slice(Math.max(0, i - 9), i + 1).join('')
  return /\b(?:return|typeof|case|in|of|void|delete)$/.test(word)
}

const FROM = /(?<![\w.$])(?:import|export)\s+([^'"`;=()]*?)from\s*(['"])/g
const BARE = /(?<![\w.$])import\s*\(?\s*(['"])/g

/** Every module the file names: `import … from`, `export … from`, `import '…'` and `import('…')`. */
export function importsOf(source: Source): Import[] {
  const found: Import[] = []
  const add = (match: RegExpExecArray, quote: string, typeOnly: boolean) => {
    const start = match.index + match[0].length
    const specifier = source.text.slice(start, source.text.indexOf(quote, start))
    found.push({ line: lineAt(source.text, match.index), specifier, typeOnly, deferred: match[0].includes('(') })
  }
  for (const match of source.code.matchAll(FROM)) add(match, match[2] ?? "'", isTypeOnly(match[1] ?? ''))
  for (const match of source.code.matchAll(BARE)) add(match, match[1] ?? "'", false)
  return found
}

function isTypeOnly(clause: string): boolean {
  if (/^type\s/.test(clause)) return true
  const named = /^\{([^}]*)\}\s*$/.exec(clause)?.[1]
  if (named === undefined) return false
  const names = named.split(',').filter((name) => name.trim() !== '')
  return names.length > 0 && names.every((name) => /^\s*type\s/.test(name))
}
