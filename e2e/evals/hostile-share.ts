import type { HostileInput } from './hostile-input.ts'

/** Of what takes seconds each, CI plays one of a kind. Everything that is quick is played. */
const slowOnes: ReadonlySet<string> = new Set([
  'schema: (a+)+',
  'schema: in the names of properties',
  'schema: 2^30 ways through anyOf',
  'schema: 8,000 properties',
  'python: an endless loop',
  'python: a fork bomb',
  'python: memory of many processes',
  'python: printing 1 GB',
  'python: a socket',
  'python: the environment of others',
  'python: the memory of the harness',
  'python: kill -9 -1',
  'python: NaN',
  'python: os._exit',
  'python: a syntax error',
])

const isSlow = (input: HostileInput): boolean =>
  input.expects === 'refused'
    ? input.reason.source.includes('takes (longer')
    : input.kind === 'python' ||
      (input.kind === 'schema' && input.expects === 'row_error' && input.reason.source.includes('took'))

export const isInShare = (input: HostileInput): boolean => !isSlow(input) || slowOnes.has(input.name)
