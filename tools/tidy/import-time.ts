/**
 * The part of a file that runs when the file is imported: its top level without the bodies of functions, methods,
 * classes and types. Works on blanked code (see readSource) and keeps every character in its place.
 */
export function importTimeCode(code: string): string {
  const out = code.split('')
  let at = 0
  while (at < code.length) {
    const end = endOfDeferred(code, at)
    if (end === null) {
      at += 1
      continue
    }
    for (let i = at; i < end; i += 1) if (out[i] !== '\n') out[i] = ' '
    at = end
  }
  return out.join('')
}

const DECLARED = /(?:interface|class|function|async\s+function|abstract\s+class)\b/y
const TYPE_ALIAS = /(?:export\s+)?(?:declare\s+)?type\s+\w+[^=;{}]*=/y
const CONTROL = /\b(?:if|for|while|switch|catch|with)\s*(?:await\s*)?$/

/** Where the thing that starts at `at` ends, when it is something that importing the file does not run; else null. */
function endOfDeferred(code: string, at: number): number | null {
  if (code.startsWith('=>', at)) return endOfArrowBody(code, at + 2)
  const wordStart = at === 0 || !/[\w$.]/.test(code[at - 1] ?? '')
  if (wordStart && matchEnd(DECLARED, code, at) !== null) return endOfDeclared(code, at)
  if (wordStart && (at === 0 || code[at - 1] === '\n')) {
    const alias = matchEnd(TYPE_ALIAS, code, at)
    if (alias !== null) return endOfStatement(code, alias)
  }
  if (code[at] === '(' && /[\w$\])>]\s*$/.test(code.slice(Math.max(0, at - 40), at))) return endOfMethod(code, at)
  return null
}

function matchEnd(pattern: RegExp, code: string, at: number): number | null {
  pattern.lastIndex = at
  return pattern.exec(code) === null ? null : pattern.lastIndex
}

/** A method in an object literal: `name(…) {` or `name(…): Type {`, which no call and no control statement is. */
function endOfMethod(code: string, open: number): number | null {
  if (CONTROL.test(code.slice(Math.max(0, open - 20), open))) return null
  const close = endOfBrackets(code, open)
  const head = /^\s*(?::[^\n=;,(){}]*)?\{/.exec(code.slice(close, close + 200))
  return head === null ? null : endOfBrackets(code, close + head[0].length - 1)
}

/** A function, class or interface: up to the end of its body, past parameters, type arguments and return type. */
function endOfDeclared(code: string, at: number): number {
  let i = at
  let last = ''
  while (i < code.length) {
    const char = code[i] ?? ''
    if (char === '(' || char === '[') {
      i = endOfBrackets(code, i)
      last = ')'
    } else if (char === '{') {
      const end = endOfBrackets(code, i)
      // After `:`, `|`, `<` and the like the braces are a type; the body comes later.
      if (!/[:|&<,]/.test(last)) return end
      i = end
      last = '}'
    } else if (char === ';' || (char === '\n' && /^\n[^\s})\]]/.test(code.slice(i, i + 2)))) {
      return i
    } else {
      if (/\S/.test(char)) last = char
      i += 1
    }
  }
  return i
}

function endOfArrowBody(code: string, start: number): number {
  let i = start
  while (/\s/.test(code[i] ?? '')) i += 1
  if (code[i] === '{') return endOfBrackets(code, i)
  while (i < code.length) {
    const char = code[i] ?? ''
    if (/[([{]/.test(char)) i = endOfBrackets(code, i)
    else if (/[)\]},;]/.test(char) || startsStatement(code, i)) return i
    else i += 1
  }
  return i
}

function endOfStatement(code: string, start: number): number {
  let i = start
  while (i < code.length && code[i] !== ';' && !startsStatement(code, i)) {
    i = /[([{]/.test(code[i] ?? '') ? endOfBrackets(code, i) : i + 1
  }
  return i
}

/** The formatter starts every top-level statement, and nothing else, in the first column. */
function startsStatement(code: string, at: number): boolean {
  return code[at] === '\n' && /[^\s)\]}]/.test(code[at + 1] ?? ' ')
}

function endOfBrackets(code: string, open: number): number {
  let depth = 0
  for (let i = open; i < code.length; i += 1) {
    if (/[([{]/.test(code[i] ?? '')) depth += 1
    else if (/[)\]}]/.test(code[i] ?? '')) depth -= 1
    if (depth === 0) return i + 1
  }
  return code.length
}
