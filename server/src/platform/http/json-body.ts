import { isUtf8 } from 'node:buffer'
import { Fault } from '#platform/errors/fault.ts'
import { refuseUnstorable } from './storable.ts'

/** Deeper than any shape in the contract; stops bodies made to exhaust the stack. */
const depthMax = 64
/** A number with this many digits may be read as Infinity. */
const digitsMax = 300

const quote = 0x22
const backslash = 0x5c

/**
 * One pass over the bytes, which are ASCII wherever JSON's structure is: refuses what is nested too deep, and says
 * whether the parsed value must be looked through for what cannot be stored. Only an escape can bring in a character
 * that cannot, and only an exponent or a very long number one that is out of range.
 */
function needsSearch(bytes: Buffer): boolean {
  let depth = 0
  let digits = 0
  let suspect = false
  for (let at = 0; at < bytes.length; at += 1) {
    const char = bytes[at] as number
    if (char === quote) {
      for (at += 1; at < bytes.length && bytes[at] !== quote; at += 1) {
        if (bytes[at] !== backslash) continue
        at += 1
        suspect ||= bytes[at] === 0x75
      }
      digits = 0
    } else if (char >= 0x30 && char <= 0x39) {
      digits += 1
      suspect ||= digits > digitsMax
    } else {
      // `e` or `E` after a digit, not the one in `true` or `false`.
      suspect ||= digits > 0 && (char | 0x20) === 0x65
      digits = 0
      if (char === 0x7b || char === 0x5b) {
        depth += 1
        if (depth > depthMax) throw new Fault('invalid_json', `The body is nested more than ${depthMax} levels deep.`)
      } else if (char === 0x7d || char === 0x5d) depth -= 1
    }
  }
  return suspect
}

function parse(bytes: Buffer): unknown {
  try {
    const text = bytes.toString('utf8')
    return JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text)
  } catch (error) {
    throw new Fault('invalid_json', 'We could not parse the JSON body of your request.', { cause: error })
  }
}

/** Reads a JSON body; an empty one counts as absent. */
export function parseJsonBody(bytes: Buffer): unknown {
  if (bytes.length === 0) return undefined
  if (!isUtf8(bytes)) throw new Fault('invalid_json', 'The JSON body of your request is not valid UTF-8.')
  const search = needsSearch(bytes)
  const value = parse(bytes)
  if (search) refuseUnstorable(value)
  return value
}
