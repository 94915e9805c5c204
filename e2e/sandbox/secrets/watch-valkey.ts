import { connect } from 'node:net'
import { once } from 'node:events'

const openMs = 10_000
const saveMs = 60_000

/** Every command that anybody ever sends to Valkey, from now on. */
export async function watchValkey(url: string): Promise<{ heard: Buffer[]; close(): void }> {
  const heard: Buffer[] = []
  const socket = await signedIn(url)
  socket.write('MONITOR\r\n')
  await once(socket, 'data', { signal: AbortSignal.timeout(openMs) })
  socket.on('data', (chunk: Buffer) => void heard.push(chunk))
  socket.on('error', () => undefined)
  return { heard, close: () => socket.destroy() }
}

/** Has Valkey write all that it holds to `dump.rdb` in its folder, as it is. */
export async function saveValkey(url: string): Promise<void> {
  const socket = await signedIn(url)
  let said = ''
  socket.on('data', (chunk: Buffer) => (said += chunk.toString('latin1')))
  socket.write('CONFIG SET rdbcompression no\r\nSET control.of.the.dump here\r\nSAVE\r\n')
  const signal = AbortSignal.timeout(saveMs)
  while (said.split('+OK').length < 4 && !said.includes('-ERR')) await once(socket, 'data', { signal })
  socket.destroy()
  if (said.includes('-ERR')) throw new Error(`Valkey does not save: ${said}`)
}

async function signedIn(url: string) {
  const { port, password } = new URL(url)
  const socket = connect(Number(port), '127.0.0.1')
  socket.write(`AUTH ${password}\r\n`)
  await once(socket, 'data', { signal: AbortSignal.timeout(openMs) })
  return socket
}
