import { createHash } from 'node:crypto'
import { Html, html, type HtmlValue } from './html.ts'
import { style } from './style.ts'

export interface Framed {
  readonly title: string
  readonly main: Html
  /** Null before anyone has signed in. */
  readonly project: string | null
}

export interface Frame {
  /** The whole document. */
  document(framed: Framed): string
  /** On every page, whatever it says. */
  readonly headers: Readonly<Record<string, string>>
}

/** What all pages have around them. No script is ever run in one, and the only style is the one in it. */
export function createFrame(): Frame {
  const hash = createHash('sha256').update(style).digest('base64')
  const policy = [
    `default-src 'none'`,
    `style-src 'sha256-${hash}'`,
    `img-src data:`,
    `form-action 'self'`,
    `frame-ancestors 'none'`,
    `base-uri 'none'`,
  ]
  return {
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy.join('; '),
      'x-content-type-options': 'nosniff',
      // Not no-referrer: with it, browsers send `Origin: null` with our own forms too.
      'referrer-policy': 'same-origin',
      'cache-control': 'no-store',
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
    },
    document: (framed) => page(framed).text,
  }
}

/** A dot on a track; kept in the address, so that no request is made for it. */
const icon =
  'data:image/svg+xml,%3Csvg xmlns=%22http://www.w3.org/2000/svg%22 viewBox=%220 0 16 16%22%3E%3Cpath d=%22M2 12h5l5-8%22 fill=%22none%22 stroke=%22%230f766e%22 stroke-width=%222.5%22 stroke-linecap=%22round%22 stroke-linejoin=%22round%22/%3E%3C/svg%3E'

function page({ title, main, project }: Framed): Html {
  return html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <meta name="robots" content="noindex" />
        <title>${title} · Switchyard</title>
        <link rel="icon" href="${icon}" />
        ${new Html(`<style>${style}</style>`)}
      </head>
      <body>
        <a class="skip" href="#main">Skip to the content</a>
        <header class="top">
          <a class="mark" href="/dashboard/"
            ><svg viewBox="0 0 16 16" width="18" height="18" aria-hidden="true">
              <path d="M2 12h5l5-8M7 12h7" /></svg
            >Switchyard</a
          >
          ${project !== null && signedIn(project)}
        </header>
        <main id="main">${main}</main>
      </body>
    </html>`
}

const signedIn = (project: string): HtmlValue => html`
  <div class="who">
    <span class="project" dir="auto" title="The project that you are signed in to">${project}</span>
    <form method="post" action="/dashboard/sign-out"><button class="quiet">Sign out</button></form>
  </div>
`
