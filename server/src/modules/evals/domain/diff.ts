export interface DiffPart {
  readonly kind: 'same' | 'added' | 'removed'
  readonly text: string
}

const CHARS_MAX = 200_000
/** Of words, and of lines where there are more words. */
const TOKENS_MAX = 5_000
/** Texts further apart than this are shown as one replaced by the other, beside what they begin and end with. */
const CHANGES_MAX = 1_000

/** Spaces, a letter of a script without spaces, a word, or any other character. */
const WORDS =
  /\s+|[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]|[[\p{L}\p{M}\p{N}_]--[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Thai}]]+|./gv
const LINES = /[^\n]*\n|[^\n]+$/g

/**
 * What of the expected text is missing and what was got instead, by words, or by lines where the texts are long. Null
 * when they are too long to compare. `same` and `removed` make up the expected text, `same` and `added` the other.
 */
export function diffTexts(expected: string, got: string): DiffPart[] | null {
  if (expected === got) return joined([['same', [expected]]])
  if (expected.length > CHARS_MAX || got.length > CHARS_MAX) return null
  const words = split(expected, got, WORDS) ?? split(expected, got, LINES)
  return words === null ? null : joined(compare(words.before, words.after))
}

function split(expected: string, got: string, pattern: RegExp): { before: string[]; after: string[] } | null {
  const before = expected.match(pattern) ?? []
  const after = got.match(pattern) ?? []
  return before.length > TOKENS_MAX || after.length > TOKENS_MAX ? null : { before, after }
}

type Run = [kind: DiffPart['kind'], tokens: readonly string[]]

function compare(before: readonly string[], after: readonly string[]): Run[] {
  const shorter = Math.min(before.length, after.length)
  let head = 0
  while (head < shorter && before[head] === after[head]) head += 1
  let tail = 0
  while (tail < shorter - head && before.at(-1 - tail) === after.at(-1 - tail)) tail += 1
  const middleBefore = before.slice(head, before.length - tail)
  const middleAfter = after.slice(head, after.length - tail)
  return [
    ['same', before.slice(0, head)],
    ...(shortestPath(middleBefore, middleAfter) ?? replaced(middleBefore, middleAfter)),
    ['same', before.slice(before.length - tail)],
  ]
}

const replaced = (before: readonly string[], after: readonly string[]): Run[] => [
  ['removed', before],
  ['added', after],
]

/**
 * Myers' greedy algorithm: how far one gets on each diagonal with 0, 1, 2 … changes. Null past CHANGES_MAX of them,
 * which bounds the memory of the way back as well.
 */
function shortestPath(before: readonly string[], after: readonly string[]): Run[] | null {
  const reached = new Int32Array(2 * CHANGES_MAX + 3)
  const zero = CHANGES_MAX + 1
  const history: Int32Array[] = []
  for (let changes = 0; changes <= CHANGES_MAX; changes += 1) {
    history.push(reached.slice(zero - changes - 1, zero + changes + 2))
    for (let diagonal = -changes; diagonal <= changes; diagonal += 2) {
      const left = reached[zero + diagonal - 1] ?? 0
      const above = reached[zero + diagonal + 1] ?? 0
      let x = diagonal === -changes || (diagonal !== changes && left < above) ? above : left + 1
      while (x < before.length && x - diagonal < after.length && before[x] === after[x - diagonal]) x += 1
      reached[zero + diagonal] = x
      if (x >= before.length && x - diagonal >= after.length) return wayBack(history, before, after)
    }
  }
  return null
}

function wayBack(history: readonly Int32Array[], before: readonly string[], after: readonly string[]): Run[] {
  const runs: Run[] = []
  let x = before.length
  let y = after.length
  for (let changes = history.length - 1; changes > 0; changes -= 1) {
    const reached = history[changes] ?? new Int32Array()
    const at = (diagonal: number) => reached[diagonal + changes + 1] ?? 0
    const diagonal = x - y
    const down = diagonal === -changes || (diagonal !== changes && at(diagonal - 1) < at(diagonal + 1))
    const fromX = at(down ? diagonal + 1 : diagonal - 1)
    const afterChangeX = down ? fromX : fromX + 1
    runs.push(['same', before.slice(afterChangeX, x)])
    const fromY = fromX - (down ? diagonal + 1 : diagonal - 1)
    runs.push(down ? ['added', after.slice(fromY, fromY + 1)] : ['removed', before.slice(fromX, fromX + 1)])
    x = fromX
    y = fromY
  }
  runs.push(['same', before.slice(0, x)])
  return runs.toReversed()
}

/** Neighbours of a kind as one part; of a change, what was removed comes first. */
function joined(runs: readonly Run[]): DiffPart[] {
  const parts: DiffPart[] = []
  const change = { removed: '', added: '' }
  let same = ''
  const close = () => {
    if (change.removed !== '') parts.push({ kind: 'removed', text: change.removed })
    if (change.added !== '') parts.push({ kind: 'added', text: change.added })
    Object.assign(change, { removed: '', added: '' })
  }
  for (const [kind, tokens] of runs) {
    const text = tokens.join('')
    if (text === '') continue
    if (kind === 'same') {
      close()
      same += text
      continue
    }
    if (same !== '') parts.push({ kind: 'same', text: same })
    same = ''
    change[kind] += text
  }
  close()
  if (same !== '') parts.push({ kind: 'same', text: same })
  return parts
}
