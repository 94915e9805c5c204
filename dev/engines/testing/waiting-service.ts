// A service for Restate that never answers an invocation, written against the wire so that a test can see every header.
import { createServer } from 'node:http2'

const MANIFEST = {
  protocolMode: 'BIDI_STREAM',
  minProtocolVersion: 5,
  maxProtocolVersion: 6,
  services: [{ name: 'Waiting', ty: 'SERVICE', handlers: [{ name: 'run' }] }],
}

/** Prints its port, then one line of JSON with the headers of every request. */
function serveWaiting(): void {
  const server = createServer()
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {})
    console.log(JSON.stringify(headers))
    if (headers[':path'] !== '/discover') return
    stream.respond({ ':status': 200, 'content-type': 'application/vnd.restate.endpointmanifest.v1+json' })
    stream.end(JSON.stringify(MANIFEST))
  })
  server.listen(0, '127.0.0.1', () => {
    const address = server.address()
    console.log(typeof address === 'object' && address !== null ? address.port : 0)
  })
}

if (import.meta.main) serveWaiting()
