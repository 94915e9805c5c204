import { StringDecoder } from 'node:string_decoder'
import { ProviderFault } from '../../domain/provider-fault.ts'
import { answerBytesMax, eventCharsMax } from './limits.ts'

const newline = 10
const carriageReturn = 13

/**
 * Takes the bytes of an event stream as they come and gives the data of each event that is complete. Names of events are
 * left out: every wire that we read repeats them in the data.
 */
export class EventReader {
  readonly #decoder = new StringDecoder('utf8')
  #rest = ''
  #data: string | null = null
  #bytes = 0

  /** Appends the data of every event that ends in these bytes. */
  push(bytes: Buffer, events: string[]): void {
    this.#bytes += bytes.length
    if (this.#bytes > answerBytesMax)
      throw new ProviderFault('malformed', 'The model provider sent too long an answer.')
    const text = this.#rest + this.#decoder.write(bytes)
    let from = 0
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', from)) {
      this.#line(text, from, text.charCodeAt(end - 1) === carriageReturn && end > from ? end - 1 : end, events)
      from = end + 1
    }
    this.#rest = from === 0 ? text : text.slice(from)
    if (this.#rest.length + (this.#data?.length ?? 0) > eventCharsMax) {
      throw new ProviderFault('malformed', 'The model provider sent too long an event.')
    }
  }

  /** The last event may lack its blank line. */
  end(events: string[]): void {
    this.push(Buffer.of(newline, newline), events)
  }

  #line(text: string, from: number, end: number, events: string[]): void {
    if (from === end) {
      if (this.#data !== null) events.push(this.#data)
      this.#data = null
      return
    }
    if (!text.startsWith('data:', from)) return
    const start = text.charCodeAt(from + 5) === 32 ? from + 6 : from + 5
    const value = text.slice(start, end)
    this.#data = this.#data === null ? value : `${this.#data}\n${value}`
  }
}
