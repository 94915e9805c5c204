import { html, type Html } from './html.ts'

export const signInPath = '/dashboard/sign-in'
export const homePath = '/dashboard/'
const nextMax = 500
/** A path of the dashboard and perhaps a query: no host, no `//`, no dots to climb with. */
const ours = /^\/dashboard\/(?:[\w-]+(?:\/[\w-]+)*\/?)?(?:\?[\w=&%.-]*)?$/

/** Where to go after the sign-in; anywhere else than in the dashboard is its front page. */
export function placeAfter(given: string | null): string {
  return given !== null && given.length <= nextMax && ours.test(given) ? given : homePath
}

/** Says nothing about what is at the address it leads to. */
export function signInForm(next: string, refused: boolean): Html {
  return html`
    <section class="sign-in">
      <h1>Sign in</h1>
      <p>Use a key of the project whose results you want to see.</p>
      ${
        refused &&
        html`<p class="callout bad" role="alert" id="refused">
          This key does not open the dashboard. It takes a project key that is in force and not an admin key.
        </p>`
      }
      <form method="post" action="${signInPath}">
        <input type="hidden" name="next" value="${next}" />
        <label for="key">Project key</label>
        <input
          id="key"
          name="key"
          type="password"
          required
          autofocus
          autocomplete="off"
          spellcheck="false"
          placeholder="sk-proj-…"
          ${refused && html`aria-invalid="true" aria-describedby="refused"`}
        />
        <button class="primary">Sign in</button>
      </form>
      <p class="note">
        The key is checked and not kept. You stay signed in on this browser for 12 hours, or until the key is revoked.
      </p>
    </section>
  `
}
