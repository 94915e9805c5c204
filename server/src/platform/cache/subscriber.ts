import type { Log } from '../telemetry/log.ts'
import type { Connection } from './connection.ts'

export type OnMessage = (message: string) => void

export interface Subscription {
  channel: string
  onMessage: OnMessage
  /** Called when the channel is heard again after a break. What was sent in between is lost: read the store again. */
  onResubscribed?: (() => void) | undefined
}

export interface Subscriber {
  /** Resolves once the server sends this channel's messages, or at once while it is down. Returns how to end it. */
  subscribe(subscription: Subscription): Promise<() => Promise<void>>
}

/** Many listeners over one connection of its own; a connection that listens can do nothing else. */
export function createSubscriber(connection: Connection, log: Log): Subscriber {
  const { client } = connection
  const channels = new Map<string, Set<Subscription>>()

  client.on('message', (channel: string, message: string) => {
    for (const subscription of channels.get(channel) ?? []) tell(log, channel, () => subscription.onMessage(message))
  })
  client.on('ready', () => void resubscribe())

  async function resubscribe(): Promise<void> {
    const names = [...channels.keys()]
    if (names.length === 0 || !(await listen(names))) return
    for (const name of names) {
      for (const { onResubscribed } of channels.get(name) ?? []) tell(log, name, () => onResubscribed?.())
    }
  }

  /** A connection that does not take a subscription is of no use: the next one tries again for every channel. */
  async function listen(names: readonly string[]): Promise<boolean> {
    if (!connection.up) return false
    try {
      await client.subscribe(...names)
      return true
    } catch (err) {
      log.warn({ err, channelsTotal: names.length }, 'could not subscribe, connecting anew')
      client.disconnect(true)
      return false
    }
  }

  async function unsubscribe(subscription: Subscription): Promise<void> {
    const listeners = channels.get(subscription.channel)
    if (listeners === undefined || !listeners.delete(subscription) || listeners.size > 0) return
    channels.delete(subscription.channel)
    // The server forgets a lost connection's channels by itself.
    if (connection.up) await client.unsubscribe(subscription.channel).catch(() => undefined)
  }

  return {
    async subscribe(subscription) {
      const listeners = channels.get(subscription.channel)
      channels.set(subscription.channel, (listeners ?? new Set<Subscription>()).add(subscription))
      if (listeners === undefined) await listen([subscription.channel])
      return () => unsubscribe(subscription)
    },
  }
}

/** One listener's mistake must not keep the message from the others. */
function tell(log: Log, channel: string, fn: () => void): void {
  try {
    fn()
  } catch (err) {
    log.error({ err, channel }, 'a subscriber failed')
  }
}
