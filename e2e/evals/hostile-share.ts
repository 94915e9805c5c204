import type { HostileInput } from './hostile-input.ts'

/** Of what takes seconds each, CI plays one of a kind. Everything that is quick is played. */
const slowShare: ReadonlySet<string> = new Set([
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
  'python: a NUL',
  'python: an empty source',
])

export const isInShare = (input: HostileInput): boolean => input.kind !== 'python' || slowShare.has(input.name)
