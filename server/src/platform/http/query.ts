import type { Operation } from '@switchyard/contracts/operation.ts'
import { Fault } from '#platform/errors/fault.ts'
import { emptyNamed, putNamed, type Named } from './nested-name.ts'
import { refuseUnstorable } from './storable.ts'
import { unknownParameter, validate } from './validate.ts'

const pairsMax = 100
const textMax = 8_192

function decode(text: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch (error) {
    throw new Fault('invalid_value', 'The query string is not valid percent-encoding.', { cause: error })
  }
}

/** `name=a`, `name[]=a&name[]=b` as a list, `name[key]=v` as a map: what the SDKs send. */
export function parseQuery(text: string): Named {
  const query = emptyNamed()
  if (text === '') return query
  if (text.length > textMax) throw new Fault('request_too_large', 'The query string is too long.')
  const pairs = text.split('&', pairsMax + 1)
  if (pairs.length > pairsMax) throw new Fault('request_too_large', 'The query string has too many parameters.')
  for (const pair of pairs) {
    if (pair === '') continue
    const equals = pair.indexOf('=')
    const name = decode(equals < 0 ? pair : pair.slice(0, equals))
    putNamed(query, name, equals < 0 ? '' : decode(pair.slice(equals + 1)))
  }
  return query
}

/** The query as the operation declares it. */
export function readQuery(operation: Operation, text: string): unknown {
  if (text === '' && operation.query === undefined) return undefined
  const query = parseQuery(text)
  refuseUnstorable(query)
  if (operation.query !== undefined) return validate(operation.query, query)
  const [unknown] = Object.keys(query)
  if (unknown !== undefined) throw unknownParameter(unknown)
  return undefined
}
