import type { Chance } from './chance.ts'
import { oddText } from './odd-values.ts'

type Header = [string, string]

const types = [
  'text/plain',
  'application/json; charset=utf-16',
  'application/json;',
  'application/json, application/json',
  'APPLICATION/JSON',
  'application/vnd.api+json',
  'application/x-www-form-urlencoded',
  'multipart/form-data',
  'multipart/form-data; boundary=',
  'multipart/form-data; boundary=b; boundary=c',
  'multipart/mixed; boundary=b',
  '*/*',
  '/',
  '',
  ';',
  'a'.repeat(5_000),
]

/** Only what may stand in a header; what may not is the business of broken-http.ts. */
const legal = (text: string) => text.replaceAll(/[^\u0020-\u007e]/g, '?').slice(0, 4_000)

const replaced = (headers: Header[], name: string, value: string): Header[] => [
  ...headers.filter(([held]) => held !== name),
  [name, value],
]

/** Headers that are allowed by HTTP and unwelcome all the same. */
export function mutateHeaders(headers: Header[], chance: Chance): Header[] {
  switch (chance.below(12)) {
    case 0:
      return replaced(headers, 'content-type', chance.pick(types))
    case 1:
      return headers.filter(([name]) => name !== 'content-type')
    case 2:
      return replaced(headers, 'idempotency-key', legal(oddText(chance)))
    case 3:
      return replaced(headers, 'range', legal(oddText(chance)))
    case 4:
      return replaced(headers, 'openai-organization', legal(oddText(chance)))
    case 5:
      return replaced(headers, 'openai-project', legal(oddText(chance)))
    case 6:
      return [...headers, ['authorization', 'Bearer second']]
    case 7:
      return [...headers, ['expect', chance.pick(['100-continue', '200-ok', legal(oddText(chance))])]]
    case 8:
      return [...headers, ['origin', legal(oddText(chance))], ['access-control-request-method', 'POST']]
    case 9:
      return [...headers, ['accept', legal(oddText(chance))], ['accept-encoding', 'zstd, br;q=x']]
    case 10:
      return [...headers, ['traceparent', legal(oddText(chance))], ['x-request-id', legal(oddText(chance))]]
    default:
      return [
        ...headers,
        ...Array.from({ length: chance.pick([5, 50, 200]) }, (_none, at): Header => [`x-${at}`, 'y'.repeat(20)]),
      ]
  }
}
