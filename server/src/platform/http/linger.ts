import type { IncomingMessage } from 'node:http'

const lingerMs = 2_000
const lingerBytesMax = 256 * 1024 * 1024

export function announcesBody({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  const length = headers['content-length']
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0')
}

/** True while some of the body has not arrived. `complete` alone is false for a moment on requests without one, too. */
export function hasUnreadBody(request: IncomingMessage): boolean {
  return !request.complete && announcesBody(request)
}

/**
 * For a reply that goes out while the client is still sending, on a connection that ends with it. Closing at once
 * makes the system answer what arrives next with a reset, and a reset makes the client lose the reply. So the
 * connection is half closed, and what arrives is thrown away until the client has seen it, within bounds.
 */
export function lingerAfterReply(request: IncomingMessage): void {
  const { socket } = request
  // This is what Node calls when the last reply of a connection has been written.
  socket.destroySoon = () => {
    let bytes = 0
    const timer = setTimeout(() => socket.destroy(), lingerMs)
    socket.once('close', () => clearTimeout(timer))
    socket.end()
    request.on('data', (chunk: Buffer) => {
      bytes += chunk.length
      if (bytes > lingerBytesMax) socket.destroy()
    })
    request.once('end', () => socket.destroy())
    request.resume()
  }
}
