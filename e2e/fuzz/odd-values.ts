import type { Chance } from './chance.ts'

/** Written into a JSON text as it stands. */
export class RawJson {
  readonly text: string

  constructor(text: string) {
    this.text = text
  }
}

/** None of them holds a word that `judge.ts` takes for our own inside talking. */
const oddTexts = [
  '',
  ' ',
  '\t\r\n',
  '0',
  '-1',
  'true',
  'null',
  'undefined',
  'NaN',
  '[]',
  '{}',
  '[object Object]',
  '__proto__',
  'constructor',
  'prototype',
  'hasOwnProperty',
  'toString',
  'valueOf',
  "'; drop table x; --",
  '" or ""="',
  '\\',
  '%00',
  '%',
  '%s%n%d',
  '${7*7}',
  '{{7*7}}',
  '../../../../etc/hosts',
  '..\\..\\x',
  '/',
  '//',
  '.',
  '..',
  '<b onload=x>',
  'a\r\nx-injected: yes',
  '\u0000',
  'a\u0000b',
  '\u0001\u001f\u007f',
  '\u200b\u200e\u202e\ufeff',
  'ﬀİıſK',
  'e\u0301\u0301\u0301',
  '🚂👩‍👩‍👧‍👦',
  '\ud83d',
  '\udc00\ud800',
  '\uffff',
  'a@b',
  'a@example.com',
  'ＡＤＭＩＮ',
  '*.com',
  'xn--',
] as const

const oddNumbers = [
  0,
  -0,
  1,
  -1,
  0.5,
  1e-7,
  255,
  65_536,
  2_147_483_647,
  2_147_483_648,
  -2_147_483_649,
  4_294_967_296,
  Number.MAX_SAFE_INTEGER,
  Number.MAX_SAFE_INTEGER + 1,
  Number.MIN_SAFE_INTEGER,
  2 ** 63,
  1e21,
  Number.MAX_VALUE,
  -Number.MAX_VALUE,
  Number.MIN_VALUE,
] as const

const rawTokens = [
  '1e400',
  '-1e400',
  '1e-400',
  '-0',
  '1'.repeat(400),
  `0.${'1'.repeat(400)}`,
  'NaN',
  'Infinity',
  '01',
  '+1',
  '.5',
  '1.',
  '0x10',
  "'x'",
  '"\\u0000"',
  '"\\ud800"',
  '"\\x41"',
  '"a\nb"',
  '"unclosed',
  'undefined',
  '// x',
  '/* x */ 1',
  '[1,]',
  '{"a":1,}',
  '{"a":1 "b":2}',
  '{"a":1,"a":2}',
  '{"__proto__":{"x":1}}',
  '{"constructor":{"prototype":{"x":1}}}',
  '{"toString":1,"valueOf":2}',
] as const

const lengths = [64, 97, 129, 201, 256, 1_001, 4_097, 20_000, 100_000] as const
const depths = [8, 63, 64, 65, 500, 5_000] as const

export function oddText(chance: Chance): string {
  if (chance.often(0.15))
    return chance.pick(['a', '0', 'é', '🚂', '.', 'a.', '%', '"', '\\', ' ']).repeat(chance.pick(lengths))
  if (chance.often(0.1)) return chance.bytes(chance.between(1, 40)).toString('utf16le')
  return chance.pick(oddTexts)
}

export function oddNumber(chance: Chance): number {
  return chance.often(0.2) ? chance.between(-1_000_000, 1_000_000) / chance.between(1, 7) : chance.pick(oddNumbers)
}

function nested(chance: Chance): RawJson {
  const depth = chance.pick(depths)
  const [open, close] = chance.pick([
    ['[', ']'],
    ['{"a":', '}'],
  ] as const)
  return new RawJson(`${open.repeat(depth)}1${close.repeat(depth)}`)
}

/** A value of whatever type. */
export function oddValue(chance: Chance): unknown {
  switch (chance.below(9)) {
    case 0:
      return null
    case 1:
      return chance.often(0.5)
    case 2:
      return oddNumber(chance)
    case 3:
      return []
    case 4:
      return Array.from({ length: chance.pick([1, 2, 101, 1_001]) }, () => chance.pick(['a', 1, null]))
    case 5:
      return { [oddText(chance)]: oddText(chance) }
    case 6:
      return nested(chance)
    case 7:
      return new RawJson(chance.pick(rawTokens))
    default:
      return oddText(chance)
  }
}
