import { Fault } from '#platform/errors/fault.ts'
import { refuseUnstorable } from './validate.ts'

/** Deeper than any shape in the contract; stops bodies made to exhaust the stack. */
const depthMax = 64

function refuseDeep(text: string): void {
  let depth = 0
  let quoted = false
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charCodeAt(at)
    if (quoted) {
      if (char === 0x5c) at += 1
      else if (char === 0x22) quoted = false
    } else if (char === 0x22) quoted = true
    else if (char === 0x7b || char === 0x5b) {
      depth += 1
      if (depth > depthMax) throw new Fault('invalid_json', `The body is nested more than ${depthMax} levels deep.`)
    } else if (char === 0x7d || char === 0x5d) depth -= 1
  }
}

/** Reads a JSON body; an empty one counts as absent. */
export function parseJsonBody(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined
  let text: string
  let value: unknown
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    refuseDeep(text)
    value = JSON.parse(text)
  } catch (error) {
    if (error instanceof Fault) throw error
    throw new Fault('invalid_json', 'We could not parse the JSON body of your request.', { cause: error })
  }
  // Only an escape or a raw NUL can bring in what refuseUnstorable looks for.
  if (text.includes('\\u')) refuseUnstorable(value)
  return value
}
