/** What the double says to one request, whichever wire it came over. */
export interface ModelAnswer {
  readonly text?: string
  readonly reasoning?: string
  readonly refusal?: string
  readonly calls?: readonly ScriptedCall[]
  /** Default: the tokens are counted as words; null: the provider reports nothing. */
  readonly usage?: { readonly input: number; readonly output: number } | null
  readonly finish?: 'stop' | 'length' | 'content_filter'
  /** Milliseconds before each event of a stream, or before a whole answer. */
  readonly slowMs?: number
  /** Events of the stream before something happens: 0 is at once after the headers. */
  readonly after?: number
  /** What happens then. A whole answer is cut, garbled or withheld instead. */
  readonly trouble?: 'cut' | 'malformed' | 'hang' | 'error'
}

export interface ScriptedCall {
  readonly name: string
  /** An object is sent as JSON; text is sent as it is. For custom tools of the Responses wire: the input. */
  readonly arguments: Readonly<Record<string, unknown>> | string
  readonly id?: string
  /** Only the Responses wire knows custom tools. */
  readonly custom?: true
}

/** A refusal at the door. */
export interface StatusAnswer {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: unknown
}

export type Answer = string | ModelAnswer | StatusAnswer

export interface WireEvent {
  readonly event?: string
  readonly data: unknown
}

/** How one wire says an answer. */
export interface DoubleWire {
  events(answer: ModelAnswer, model: string): WireEvent[]
  whole(answer: ModelAnswer, model: string): unknown
  error(message: string): WireEvent
  /** The last thing that the user said, which a plain answer repeats. */
  lastUserText(body: Record<string, unknown>): string
  inputWords(body: Record<string, unknown>): number
}

export const argumentsText = ({ arguments: given }: ScriptedCall) =>
  typeof given === 'string' ? given : JSON.stringify(given)

/** Text comes word by word; joined again it is the same. */
export const piecesOf = (text: string) => text.match(/\S*\s+|\S+/g) ?? []

export function usageOf({ usage, text = '' }: ModelAnswer, input: number): { input: number; output: number } | null {
  return usage === undefined ? { input, output: piecesOf(text).length } : usage
}

/** Finds text in content of any wire: a string, or parts that have a `text`. */
export function textIn(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return ''
  return content.map((part: { text?: unknown }) => (typeof part.text === 'string' ? part.text : '')).join('')
}

export function lastUserIn(messages: unknown): string {
  const found = (Array.isArray(messages) ? messages : []).findLast((one: { role?: unknown }) => one.role === 'user')
  return textIn((found as { content?: unknown } | undefined)?.content)
}
