import type { WebSocket } from 'ws'

const checkEveryMs = 30_000
/** Pings in a row that a client may leave unanswered; with the next one due, it is gone. */
const missedMax = 2
/** A client that leaves this much unread is cut: it must not hold memory for others. */
const backlogBytesMax = 16 * 1024 * 1024

/** Ends a socket whose client is gone without saying so, or has stopped reading. */
export function watchSocket(socket: WebSocket, everyMs = checkEveryMs): void {
  let missed = 0
  socket.on('pong', () => (missed = 0))
  const timer = setInterval(() => {
    if (missed >= missedMax || socket.bufferedAmount > backlogBytesMax) {
      socket.terminate()
      return
    }
    missed += 1
    socket.ping()
  }, everyMs)
  socket.once('close', () => clearInterval(timer))
}
