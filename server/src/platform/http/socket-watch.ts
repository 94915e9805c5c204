import type { WebSocket } from 'ws'

const checkEveryMs = 20_000
/** A client that leaves this much unread is cut: it must not hold memory for others. */
const backlogBytesMax = 16 * 1024 * 1024

/** Ends a socket whose client is gone without saying so, or has stopped reading. */
export function watchSocket(socket: WebSocket, everyMs = checkEveryMs): void {
  let answered = true
  socket.on('pong', () => (answered = true))
  const timer = setInterval(() => {
    if (!answered || socket.bufferedAmount > backlogBytesMax) {
      socket.terminate()
      return
    }
    answered = false
    socket.ping()
  }, everyMs)
  socket.once('close', () => clearInterval(timer))
}
