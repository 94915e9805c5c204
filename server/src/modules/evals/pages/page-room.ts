import { html, type Html } from '#platform/http/pages/html.ts'
import { cut } from '../domain/compared.ts'

/** Of one text, and of all texts of a part of a page. A row holds megabytes, and a hundred criteria may show them each. */
const textCharsMax = 50_000
const partCharsMax = 400_000

export const onlyBegins = html`<p class="note">Only the beginning is shown; the API has all of it.</p>`

/** How much text a part of a page has room for. */
export class PageRoom {
  #left = partCharsMax

  /** Of the next text; 0 when there is no room. */
  get charsMax(): number {
    return Math.min(textCharsMax, this.#left)
  }

  spend(chars: number): void {
    this.#left = Math.max(0, this.#left - chars)
  }

  /** A text as far as there is room, or a value as JSON. */
  block(value: unknown): Html {
    const isText = typeof value === 'string'
    const text = isText ? value : JSON.stringify(value, null, 2)
    const shown = cut(text, this.charsMax)
    this.spend(shown.length)
    const block = isText
      ? html`<pre class="text" dir="auto" tabindex="0">${shown}</pre>`
      : html`<pre class="text code" tabindex="0">${shown}</pre>`
    return html`${block}${shown !== text && onlyBegins}`
  }
}
