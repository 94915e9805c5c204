import type { Chance } from './chance.ts'
import type { Plan } from './plan.ts'

const latin1 = (text: string) => Buffer.from(text, 'latin1')

/** Requests that are not HTTP as the standard has it. Each gets an answer or a closed connection, never silence. */
export function planBroken(chance: Chance, key: string): Plan {
  const auth = `host: x\r\nauthorization: Bearer ${key}\r\n`
  const post = `POST /v1/uploads HTTP/1.1\r\n${auth}content-type: application/json\r\n`
  const kinds: (() => string | Buffer)[] = [
    () => chance.bytes(chance.between(1, 400)),
    () => '',
    () => '\r\n\r\n\r\n',
    () => 'GET\r\n\r\n',
    () => 'GET /v1/files\r\n\r\n',
    () => `GET /v1/files HTTP/9.9\r\n${auth}\r\n`,
    () => `GET /v1/files HTTP/1.0\r\nauthorization: Bearer ${key}\r\n\r\n`,
    () => `get /v1/files HTTP/1.1\r\n${auth}\r\n`,
    () => `GET /v1/files HTTP/1.1\r\nauthorization: Bearer ${key}\r\n\r\n`,
    () => `GET /v1/files HTTP/1.1\n${auth.replaceAll('\r', '')}\n`,
    () => `GET /v1/fi les HTTP/1.1\r\n${auth}\r\n`,
    () => `GET /v1/files?a=\u0000 HTTP/1.1\r\n${auth}\r\n`,
    () => `GET /v1/files?a=\u00e9 HTTP/1.1\r\n${auth}\r\n`,
    () => `GET http://other.example/v1/files HTTP/1.1\r\n${auth}\r\n`,
    () => `GET files HTTP/1.1\r\n${auth}\r\n`,
    () => `OPTIONS * HTTP/1.1\r\n${auth}\r\n`,
    () => `CONNECT other.example:443 HTTP/1.1\r\n${auth}\r\n`,
    () => `GET /v1/files HTTP/1.1\r\n${auth}upgrade: websocket\r\nconnection: upgrade\r\n\r\n`,
    () =>
      `GET /v1/realtime HTTP/1.1\r\n${auth}upgrade: websocket\r\nconnection: upgrade\r\nsec-websocket-version: 13\r\nsec-websocket-key: eA==\r\n\r\n`,
    () =>
      `GET /v1/files HTTP/1.1\r\n${auth}upgrade: h2c\r\nconnection: upgrade, http2-settings\r\nhttp2-settings: AAMAAABk\r\n\r\n`,
    () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    () => Buffer.from('16030100c8010000c40303', 'hex'),
    () => `GET /v1/files HTTP/1.1\r\n${auth}: no name\r\n\r\n`,
    () => `GET /v1/files HTTP/1.1\r\n${auth}na me: x\r\n\r\n`,
    () => `GET /v1/files HTTP/1.1\r\n${auth}x: a\u0000b\r\n\r\n`,
    () => `GET /v1/files HTTP/1.1\r\n${auth}x: a\r\n folded\r\n\r\n`,
    () => `GET /v1/files HTTP/1.1\r\n${auth}x: ${'y'.repeat(chance.pick([16_000, 20_000, 100_000]))}\r\n\r\n`,
    () => `GET /${'p'.repeat(chance.pick([8_000, 20_000]))} HTTP/1.1\r\n${auth}\r\n`,
    () => `GET /v1/files HTTP/1.1\r\n${auth}${'x: y\r\n'.repeat(chance.pick([1_000, 3_000]))}\r\n`,
    () => `GET /v1/files HTTP/1.1\r\nhost: a\r\nhost: b\r\nauthorization: Bearer ${key}\r\n\r\n`,
    () => `${post}content-length: 10\r\n\r\n{}`,
    () => `${post}content-length: -1\r\n\r\n{}`,
    () => `${post}content-length: 1e3\r\n\r\n{}`,
    () => `${post}content-length: 99999999999999999999\r\n\r\n{}`,
    () => `${post}content-length: 2\r\ncontent-length: 3\r\n\r\n{}`,
    () => `${post}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
    () => `${post}transfer-encoding: gzip, chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
    () => `${post}transfer-encoding: identity\r\n\r\n{}`,
    () => `${post}transfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`,
    () => `${post}transfer-encoding: chunked\r\n\r\n2;${'e'.repeat(20_000)}\r\n{}\r\n0\r\n\r\n`,
    () => `${post}transfer-encoding: chunked\r\n\r\nffffffffffffffff\r\n{}`,
    () => `${post}transfer-encoding: chunked\r\n\r\n2\r\n{}`,
    () => `${post}transfer-encoding: chunked\r\ntrailer: x\r\n\r\n2\r\n{}\r\n0\r\nx: y\r\ncontent-length: 5\r\n\r\n`,
    () => `${post}content-length: 2\r\n\r\n{}GET /v1/files HTTP/1.1\r\n${auth}\r\n`,
    () => `GET /v1/files?limit=1 HTTP/1.1\r\n${auth}\r\n`.repeat(chance.pick([2, 20, 200])),
    () => `GET /v1/files HTTP/1.1\r\n${auth}`.slice(0, chance.between(1, 60)),
    () => `DELETE /v1/files/file-none HTTP/1.1\r\n${auth}content-length: 5\r\n\r\nGET /`,
    () =>
      `POST /v1/files HTTP/1.1\r\n${auth}content-type: multipart/form-data; boundary=b\r\ncontent-length: 500\r\n\r\n--b\r\ncontent-disposition: form-data; name="file"; filename="f"\r\n\r\nhalf`,
    () =>
      `POST /v1/files HTTP/1.1\r\n${auth}content-type: multipart/form-data; boundary=b\r\nexpect: 100-continue\r\ncontent-length: 500\r\n\r\n`,
  ]
  const made = chance.pick(kinds)()
  const bytes = typeof made === 'string' ? latin1(made) : made
  return {
    operation: 'broken HTTP',
    method: '',
    target: '',
    headers: [],
    body: Buffer.alloc(0),
    framing: 'broken',
    bytes,
  }
}
