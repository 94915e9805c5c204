import { assert } from '#platform/std/assert.ts'

/** Markup that is safe to send: every value in it was escaped. */
export class Html {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** Nothing stands for no markup at all. */
export type HtmlValue = Html | string | number | null | undefined | false | readonly HtmlValue[]

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }

const escaped = (text: string) => text.replaceAll(/[&<>"']/g, (char) => entities[char] ?? '')

function written(value: HtmlValue): string {
  if (value instanceof Html) return value.text
  if (typeof value === 'string') return escaped(value)
  if (typeof value === 'number') return String(value)
  if (value === null || value === undefined || value === false) return ''
  return value.map(written).join('')
}

/** Markup with values in it. Each is escaped, unless it is markup itself; in an attribute it stands between quotes. */
export function html(parts: TemplateStringsArray, ...values: HtmlValue[]): Html {
  let text = parts[0] ?? ''
  for (const [at, value] of values.entries()) {
    assert(!text.endsWith('='), 'a value in an attribute stands between quotes')
    text += written(value) + (parts[at + 1] ?? '')
  }
  return new Html(text)
}
