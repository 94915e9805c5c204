/** SQLSTATE classes that speak of the server or the connection, never of the query. */
const unavailableClasses = new Set(['08', '53'])
const unavailableStates = new Set([
  '57P01', // admin_shutdown
  '57P02', // crash_shutdown
  '57P03', // cannot_connect_now
  '57P05', // idle_session_timeout
  '57014', // query_canceled: the statement timeout
  '55P03', // lock_not_available
  '40001', // serialization_failure
  '40P01', // deadlock_detected
  '25P03', // idle_in_transaction_session_timeout
  '25006', // read_only_sql_transaction: a standby, in the middle of a failover
])
const unavailableSockets = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
])
/** What the driver says in words only. */
const unavailableTexts = [
  'Connection terminated',
  'timeout exceeded when trying to connect',
  'timeout expired',
  'Query read timeout',
  'Client has encountered a connection error',
  'Client was closed and is not queryable',
  'Cannot use a pool after calling end on the pool',
]
const causesMax = 8

/** True when PostgreSQL is down, starting, full or busy: the caller may come back, and nothing is wrong with the request. */
export function isDatabaseUnavailable(error: unknown): boolean {
  let current = error
  for (let depth = 0; depth < causesMax && current instanceof Error; depth += 1) {
    if (saysUnavailable(current)) return true
    current = current.cause
  }
  return false
}

function saysUnavailable(error: Error): boolean {
  const code = (error as { code?: unknown }).code
  if (typeof code === 'string') {
    if (unavailableStates.has(code) || unavailableSockets.has(code)) return true
    if (code.length === 5 && unavailableClasses.has(code.slice(0, 2))) return true
  }
  return unavailableTexts.some((text) => error.message.includes(text))
}
