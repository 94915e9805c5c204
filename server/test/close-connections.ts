import { Agent, getGlobalDispatcher, setGlobalDispatcher } from 'undici'

let apps = 0

/**
 * For an app that begins in this process; call what it gives when the app is about to end. Once the last one does, the
 * idle connections of this process's `fetch` are closed: a server that ends gives them a second in which to hear of it,
 * and a test that is over has nobody there to hear.
 */
export function countApp(): () => void {
  apps += 1
  return () => {
    apps -= 1
    // Another test's request may be on its way.
    if (apps > 0) return
    const used = getGlobalDispatcher()
    setGlobalDispatcher(new Agent())
    // Not waited for: a reply that the test never reads would hold it up.
    void used.close()
  }
}
