import { Agent, getGlobalDispatcher, setGlobalDispatcher } from 'undici'

/**
 * Closes the idle connections of this process's `fetch`. A server that ends gives them a second in which to hear of it,
 * and a test that is over has nobody there to hear.
 */
export function closeConnections(): void {
  const used = getGlobalDispatcher()
  setGlobalDispatcher(new Agent())
  // Not waited for: a reply that the test never reads would hold it up.
  void used.close()
}
