import { randomBytes } from 'node:crypto'

const partBytes = 12

/**
 * Values that shall be found nowhere. Two parts are the same in all values of a run, so that one search finds every one of
 * them, also one that was cut off at its beginning or its end.
 */
export class Canary {
  readonly #head = `Kq${randomBytes(partBytes).toString('hex')}`
  readonly #tail = randomBytes(partBytes).toString('hex')
  /** Not secret, and in everything that the responses of the run leave. */
  readonly mark = `mark${randomBytes(partBytes).toString('hex')}`

  valueOf(name: string): string {
    return `${this.#head}+${name}/${this.#tail}${randomBytes(partBytes).toString('hex')}`
  }

  markOf(number: number): string {
    return `${this.mark}n${number}`
  }

  /** Both parts in every form that is searched for. JSON and URLs leave them as they are. */
  forms(): Form[] {
    return [this.#head, this.#tail].flatMap((part) => formsOf(part))
  }

  isIn(text: string): boolean {
    return text.includes(this.#head) || text.includes(this.#tail)
  }
}

export interface Form {
  readonly name: string
  readonly bytes: Buffer
}

function formsOf(part: string): Form[] {
  const raw = Buffer.from(part)
  const hex = raw.toString('hex')
  const percent = hex.replaceAll(/../g, '%$&')
  const texts = {
    raw: part,
    reversed: part.split('').toReversed().join(''),
    hex,
    HEX: hex.toUpperCase(),
    percent,
    PERCENT: percent.toUpperCase(),
  }
  return [
    ...Object.entries(texts).map(([name, text]) => ({ name, bytes: Buffer.from(text) })),
    { name: 'utf-16', bytes: Buffer.from(part, 'utf16le') },
    ...[0, 1, 2].map((shift) => ({ name: `base64 at ${shift}`, bytes: base64At(raw, shift) })),
  ]
}

const base64Group = 3
const base64Chars = 4

/** What is the same whatever stands before and after. */
function base64At(raw: Buffer, shift: number): Buffer {
  const text = Buffer.concat([Buffer.alloc(shift), raw]).toString('base64')
  const whole = Math.floor((raw.length + shift) / base64Group) * base64Chars
  return Buffer.from(text.slice(shift === 0 ? 0 : base64Chars, whole))
}
