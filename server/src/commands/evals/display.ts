const segments = new Intl.Segmenter('en', { granularity: 'grapheme' })
const wide =
  /^(?:\p{Emoji_Presentation}|.*\ufe0f|[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{20000}-\u{3fffd}])/u
/** What moves the cursor, changes colours or turns the direction of writing; the joiner only glues signs together. */
const unprintable = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}]|(?!\u200d)\p{Cf}/gu

export type Colour = 'green' | 'red' | 'magenta' | 'cyan' | 'bold'
/** Colours a text, or leaves it as it is where colours are not wanted. */
export type Paint = (colour: Colour, text: string) => string

/** The names of the terminal itself, which its owner made readable on whatever background they chose. */
const codes: Readonly<Record<Colour, number>> = { bold: 1, red: 31, green: 32, magenta: 35, cyan: 36 }
const ends = (colour: Colour) => (colour === 'bold' ? 22 : 39)

export const inColour: Paint = (colour, text) => `\u001b[${codes[colour]}m${text}\u001b[${ends(colour)}m`
export const plain: Paint = (_colour, text) => text

/** Text of a model or of a file on one line, without anything that a terminal would obey. */
export const printable = (text: string): string => text.replaceAll(unprintable, ' ').replaceAll(/ {2,}/g, ' ').trim()

/** How many columns a printable text takes. */
export function widthOf(text: string): number {
  let columns = 0
  for (const { segment } of segments.segment(text)) columns += wide.test(segment) ? 2 : 1
  return columns
}

/** As much of a text as fits. */
export function clip(text: string, columns: number): string {
  // No sign is narrower than nothing and few are longer than this: a text of megabytes is not measured to its end.
  const near = text.slice(0, Math.max(0, columns) * 16)
  if (near.length === text.length && widthOf(near) <= columns) return text
  let clipped = ''
  let left = columns - 1
  for (const { segment } of segments.segment(near)) {
    left -= widthOf(segment)
    if (left < 0) break
    clipped += segment
  }
  return columns < 1 ? '' : `${clipped}…`
}

const pad = (text: string, columns: number, right: boolean) => {
  const space = ' '.repeat(Math.max(0, columns - widthOf(text)))
  return right ? space + text : text + space
}

/** Columns beside each other: the first to the left, numbers to the right. The first gives way where it is narrow. */
export function table(head: readonly string[], rows: readonly (readonly string[])[], width: number): string[] {
  const all = [head, ...rows]
  const widths = head.map((_, at) => Math.max(...all.map((row) => widthOf(row[at] ?? ''))))
  const others = widths.slice(1).reduce((sum, one) => sum + one + 2, 0)
  const first = Math.max(8, Math.min(widths[0] ?? 0, width - 2 - others))
  return all.map((row) => {
    const cells = row.map((cell, at) =>
      at === 0 ? pad(clip(cell, first), first, false) : pad(cell, widths[at] ?? 0, true),
    )
    return `  ${cells.join('  ')}`.trimEnd()
  })
}

export const grouped = (count: number): string => count.toLocaleString('en-US')

/** `850 ms`, `12 s`, `3 min 5 s`, `2 h 10 min`. */
export function duration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`
  const seconds = Math.round(ms / 1_000)
  if (seconds < 60) return `${seconds} s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes} min ${seconds % 60} s`
  return `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
