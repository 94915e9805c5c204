/** Valkey is down, starting, hung or full. The caller goes on without it, or says so; nothing is wrong with the command. */
export class CacheUnavailable extends Error {
  override readonly name = 'CacheUnavailable'
}

/** Replies that speak of the server's state, not of the command. */
const UNAVAILABLE_REPLIES =
  /^(?:LOADING|BUSY|MASTERDOWN|CLUSTERDOWN|TRYAGAIN|READONLY|OOM|MISCONF|NOREPLICAS|NOAUTH|WRONGPASS)\b/
/** What the client says when a command could not be sent or its reply did not come. */
const LOST_MESSAGES = [
  'Command aborted due to connection close',
  'Connection is closed.',
  'Command timed out',
  "Stream isn't writeable and enableOfflineQueue options is false",
]

/** The same error, or CacheUnavailable around it when it only means that Valkey is not there. */
export function asCacheError(error: unknown): unknown {
  return meansUnavailable(error) ? new CacheUnavailable('Valkey did not answer', { cause: error }) : error
}

function meansUnavailable(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error.name === 'ReplyError') return UNAVAILABLE_REPLIES.test(error.message)
  if ('syscall' in error) return true
  return error.name === 'MaxRetriesPerRequestError' || LOST_MESSAGES.includes(error.message)
}
