/** SQLSTATE classes and socket errors that mean "the database is not there right now", not "the query is wrong". */
const unavailableStates = new Set([
  '57P01',
  '57P02',
  '57P03',
  '53300',
  '08000',
  '08001',
  '08003',
  '08004',
  '08006',
  '57014',
])
const unavailableSockets = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN'])
const unavailableTexts = [
  'Connection terminated',
  'timeout exceeded when trying to connect',
  'Client has encountered a connection error',
  'the database system is',
]

/** True when PostgreSQL is down, starting or full: the caller may come back, and nothing is wrong with the request. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = (error as { code?: unknown }).code
  if (typeof code === 'string' && (unavailableStates.has(code) || unavailableSockets.has(code))) return true
  return unavailableTexts.some((text) => error.message.includes(text))
}
