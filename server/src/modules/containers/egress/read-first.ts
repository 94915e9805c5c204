import type { Socket } from 'node:net'

export type FirstBytes<T> = { found: T } | { failed: 'timeout' | 'ended' | 'too_long' }

/**
 * Gathers the first bytes of a paused socket until `read` makes something of them. Bytes that were not used go back to
 * the socket, which is left paused for whoever comes next.
 */
export function readFirst<T>(
  socket: Socket,
  read: (bytes: Buffer) => { value: T; used: number } | null,
  bounds: { bytesMax: number; timeoutMs: number },
): Promise<FirstBytes<T>> {
  return new Promise((resolve) => {
    let gathered: Buffer = Buffer.alloc(0)
    const timer = setTimeout(() => settle({ failed: 'timeout' }, gathered), bounds.timeoutMs)

    const onData = (chunk: Buffer) => {
      gathered = gathered.length === 0 ? chunk : Buffer.concat([gathered, chunk])
      const result = read(gathered)
      if (result !== null) settle({ found: result.value }, gathered.subarray(result.used))
      else if (gathered.length > bounds.bytesMax) settle({ failed: 'too_long' }, gathered)
    }
    const onEnd = () => settle({ failed: 'ended' }, gathered)

    function settle(outcome: FirstBytes<T>, rest: Buffer): void {
      clearTimeout(timer)
      socket.off('data', onData).off('end', onEnd).off('close', onEnd)
      socket.pause()
      if (rest.length > 0 && !socket.destroyed && !socket.readableEnded) socket.unshift(rest)
      resolve(outcome)
    }

    socket.on('data', onData).once('end', onEnd).once('close', onEnd)
    socket.resume()
  })
}
