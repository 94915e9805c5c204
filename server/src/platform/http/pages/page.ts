import type { ProjectScope } from '../principal.ts'
import type { Html } from './html.ts'

export interface PageRequest {
  readonly scope: ProjectScope
  readonly params: Readonly<Record<string, string>>
  readonly query: URLSearchParams
}

export interface ShownPage {
  readonly title: string
  readonly main: Html
  /** The browser asks again after so long. */
  readonly refreshSeconds?: number
}

/** To an address of ours, from its `/` on. */
export interface Redirect {
  readonly location: string
}

/** A page for people: outside the API, for whoever has signed in with a project key. */
export interface Page {
  /** In the log and the metrics. */
  readonly id: string
  /** `/dashboard/things/{thing_id}` */
  readonly path: `/dashboard/${string}`
  /** What the key must be good for. */
  readonly needs: string
  /** Throws the fault that the reader sees. */
  show(request: PageRequest): Promise<ShownPage | Redirect>
}
