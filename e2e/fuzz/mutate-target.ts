import type { Chance } from './chance.ts'
import { oddText } from './odd-values.ts'

const odd = (chance: Chance) => {
  const text = oddText(chance).slice(0, 3_000)
  return encodeURIComponent(text.toWellFormed())
}

/** What cannot stand in a request line is written as percent and digits; the rest stays as odd as it is. */
const writable = (target: string) =>
  target.replaceAll(/[^\u0021-\u007e]/g, (char) => encodeURIComponent(char.toWellFormed()))

const encodings = [
  '%2f',
  '%2F',
  '%00',
  '%0d%0a',
  '%',
  '%zz',
  '%c0%af',
  '%ed%a0%80',
  '%25',
  '%3f',
  '%23',
  ';a=b',
  '//',
  '/./',
  '/../',
]

/** One segment changed, doubled, dropped or made absurd. */
export function mutatePath(path: string, chance: Chance): string {
  const segments = path.split('/')
  const at = chance.between(1, segments.length - 1)
  const put = (segment: string) => writable(segments.with(at, segment).join('/'))
  const held = segments[at] ?? ''
  switch (chance.below(9)) {
    case 0:
      return put(odd(chance))
    case 1:
      return put(`${held}${chance.pick(encodings)}`)
    case 2:
      return put(`${chance.pick(encodings)}${held}`)
    case 3:
      return put(`${held}/${held}`)
    case 4:
      return writable(segments.toSpliced(at, 1).join('/')) || '/'
    case 5:
      return put('x'.repeat(chance.pick([96, 97, 128, 129, 1_000, 6_000])))
    case 6:
      return `${path}/`
    case 7:
      return put(held.toUpperCase())
    default:
      return put(['..', '..', '..', 'etc', 'hosts'].join(chance.pick(['/', '%2f', '%5c'])))
  }
}

const forms = (name: string, value: string) => [
  `${name}=${value}`,
  `${name}[]=${value}`,
  `${name}[${value}]=${value}`,
  `${name}[a][b]=${value}`,
  `${name}=${value}&${name}=${value}`,
  `${name}[]=${value}&${name}=${value}`,
  `[]=${value}`,
  `=${value}`,
  name,
  `${name}==${value}`,
]

const names = [
  'after',
  'limit',
  'order',
  'purpose',
  'before',
  'emails',
  'effective_at',
  'project_ids',
  'include_archived',
]

export function mutateQuery(query: string, chance: Chance): string {
  const joined = query === '' ? '?' : `${query}&`
  const value = odd(chance)
  switch (chance.below(7)) {
    case 0:
      return writable(`${joined}${chance.pick(forms(odd(chance), value))}`)
    case 1:
      return writable(`?${chance.pick(forms(chance.pick(names), value))}`)
    case 2:
      return writable(query.replaceAll(/=[^&]*/g, `=${value}`))
    case 3:
      return `${joined}${chance.pick(['&&&', '%', '%zz=1', 'a=%ff', '?', '#', '+', '%00=1'])}`
    case 4:
      return `?${Array.from({ length: chance.pick([99, 101, 1_000]) }, (_none, at) => `a${at}=1`).join('&')}`
    case 5:
      return `?a=${'x'.repeat(chance.pick([8_000, 9_000, 12_000]))}`
    default:
      return `${joined}limit=${chance.pick(['0', '-1', '1e9', '0x10', '1.5', 'Infinity', '', ' ', '99999999999999999999', 'null'])}`
  }
}
