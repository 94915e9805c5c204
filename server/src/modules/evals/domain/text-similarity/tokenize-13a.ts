import { refuseManyWords } from './text-bounds.ts'

/** What Python's `str.split()` and `str.rstrip()` take for white space; `\s` of JavaScript differs in six characters. */
const SPACE = /[\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]/
const WORD = /[^\t-\r\x1c-\x20\x85\xa0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000]+/g

/**
 * Words and marks as the tokenizer `13a` of sacrebleu (mteval-v13a, used at WMT) cuts them. Case stays. ASCII marks stand
 * alone, but for the apostrophe and the hyphen inside a word, and `.` and `,` inside a number.
 */
export function tokenize13a(text: string): string[] {
  // The end is cut before hyphenated line ends are joined, as in sacrebleu: a last `-` and line end remain a `-`.
  const marked = trimEnd(text)
    .replaceAll('<skipped>', '')
    .replaceAll('-\n', '')
    .replaceAll('\n', ' ')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
  const spaced = ` ${marked} `
    .replaceAll(/[{-~[-`!-&(-+:-@/]/g, ' $& ')
    .replaceAll(/([^0-9])([.,])/g, '$1 $2 ')
    .replaceAll(/([.,])([^0-9])/g, ' $1 $2')
    .replaceAll(/([0-9])(-)/g, '$1 $2 ')
  const words = spaced.match(WORD) ?? []
  refuseManyWords(words)
  return words
}

function trimEnd(text: string): string {
  let end = text.length
  while (end > 0 && SPACE.test(text.charAt(end - 1))) end--
  return text.slice(0, end)
}
