import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import type { TestContext } from 'node:test'

const PROGRAM = new URL('forwarder.py', import.meta.url).pathname
const START_MS = 10_000

/** A network of its own, as a container has, so that ports 53, 80 and 443 are free whatever the machine runs. */
const ALONE = ['--net', 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh']
const able = process.platform === 'linux' && spawnSync('unshare', [...ALONE, 'python3', '-V']).status === 0
const skip = able ? false : 'needs root, unshare, ip and python3'

/** Answers on the proxy's socket with what it was sent, once the client has said all. */
async function echoingProxy(t: TestContext, folder: string): Promise<void> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const chunks: Buffer[] = []
    socket.on('error', () => socket.destroy())
    socket.on('data', (chunk) => chunks.push(chunk))
    socket.on('end', () => socket.end(Buffer.concat([Buffer.from('heard '), ...chunks])))
  })
  server.listen(join(folder, 'proxy.sock'))
  await once(server, 'listening')
  t.after(() => server.close())
}

/** Starts the forwarder and a Python session beside it that runs what it is sent, line by line, and prints the result. */
async function startInside(t: TestContext, names: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-forwarder-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const list = (listed: readonly string[]) => {
    writeFileSync(join(folder, 'names.draft'), JSON.stringify(listed))
    renameSync(join(folder, 'names.draft'), join(folder, 'names.json'))
  }
  list(names)
  await echoingProxy(t, folder)
  const script = `python3 -I ${PROGRAM} ${folder} & exec python3 -uIc "$0"`
  const inside = spawn('unshare', [...ALONE, 'sh', '-c', script, CLIENT], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  })
  t.after(() => process.kill(-(inside.pid ?? 0), 'SIGKILL'))
  const lines: string[] = []
  let waiting = () => {}
  let rest = ''
  inside.stdout.on('data', (chunk: Buffer) => {
    const parts = (rest + chunk.toString()).split('\n')
    rest = parts.pop() ?? ''
    lines.push(...parts)
    waiting()
  })
  const nextLine = async (): Promise<string> => {
    const timer = setTimeout(() => assert.fail('no answer from inside'), START_MS)
    while (lines.length === 0) await new Promise<void>((resolve) => (waiting = resolve))
    clearTimeout(timer)
    return lines.shift() ?? ''
  }
  assert.equal(await nextLine(), 'ready')
  const ask = async (expression: string): Promise<unknown> => {
    inside.stdin.write(`${expression}\n`)
    return JSON.parse(await nextLine())
  }
  return { ask, list }
}

/** `dns(name, type)` gives [code, answers, last four bytes]; `talk(port, text)` what comes back. */
const CLIENT = `
import socket, struct, sys, json
def message(name, kind):
    labels = b''.join(bytes([len(l)]) + l.encode() for l in name.split('.'))
    return b'\\x12\\x34\\x01\\0\\0\\x01\\0\\0\\0\\0\\0\\0' + labels + b'\\0' + struct.pack('!HH', kind, 1)
def read(reply):
    return [reply[3] & 15, struct.unpack('!H', reply[6:8])[0], list(reply[-4:])]
def raw(data):
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.settimeout(0.5); s.sendto(data, ('127.0.0.1', 53))
    try: return read(s.recv(600))
    except TimeoutError: return None
def dns(name, kind=1): return raw(message(name, kind))
def dns_tcp(name, kind=1):
    s = socket.create_connection(('127.0.0.1', 53), 3); m = message(name, kind)
    s.sendall(struct.pack('!H', len(m)) + m); return read(s.recv(600)[2:])
def talk(port, text):
    s = socket.create_connection(('127.0.0.1', port), 3); s.sendall(text.encode()); s.shutdown(1)
    return s.makefile('rb').read().decode()
for line in sys.stdin: print(json.dumps(eval(line)), flush=True)
`
const HERE = [0, 1, [127, 0, 0, 1]]
const codeOf = (reply: unknown) => (reply as number[] | null)?.slice(0, 2)

test('listed names are this machine, over UDP and TCP; all others do not exist', { skip }, async (t) => {
  const { ask, list } = await startInside(t, ['Listed.example.', '*.wild.example'])
  for (const name of ['listed.example', 'LISTED.Example', 'a.wild.example', 'a.b.wild.example']) {
    assert.deepEqual(await ask(`dns('${name}')`), HERE, name)
    assert.deepEqual(await ask(`dns_tcp('${name}')`), HERE, name)
  }
  for (const name of [
    'wild.example',
    'xwild.example',
    'evil.example',
    'stolen-data.evil.example',
    'example',
    'a.listed.example',
  ]) {
    assert.deepEqual(codeOf(await ask(`dns('${name}')`)), [3, 0], name)
  }
  list(['other.example'])
  assert.deepEqual(await ask(`dns('other.example')`), HERE, 'a new list is read at the next question')
  assert.deepEqual(codeOf(await ask(`dns('listed.example')`)), [3, 0])
})

test(
  'a listed name has no other records, and what is no question is not answered with anything',
  { skip },
  async (t) => {
    const { ask } = await startInside(t, ['listed.example'])
    for (const kind of [2, 5, 15, 16, 28, 33, 64, 65, 252, 255]) {
      assert.deepEqual(codeOf(await ask(`dns('listed.example', ${kind})`)), [0, 0], `type ${kind}`)
      assert.deepEqual(codeOf(await ask(`dns('evil.example', ${kind})`)), [3, 0], `type ${kind}`)
    }
    assert.deepEqual(codeOf(await ask(`dns('.'.join(['a' * 60] * 5))`)), [1, 0], 'a name that is too long')
    assert.equal(await ask(`raw(b'x')`), null)
    assert.equal(await ask(`raw(b'\\x00' * 600)`), null)
    assert.deepEqual(codeOf(await ask(`raw(b'\\x12\\x34\\x28\\0' + b'\\0\\x01' + b'\\0' * 12)`)), [4, 0], 'an update')
    assert.deepEqual(codeOf(await ask(`raw(message('listed.example', 1)[:20])`)), [1, 0])
    assert.deepEqual(await ask(`dns('listed.example')`), HERE)
  },
)

test(
  'each port is passed to the proxy with its number, and the end of one direction keeps the other open',
  { skip },
  async (t) => {
    const { ask } = await startInside(t, [])
    for (const port of [80, 443, 3128]) {
      assert.equal(await ask(`talk(${port}, 'hello')`), `heard {"port":${port}}\nhello`)
    }
    assert.equal(await ask(`len(talk(443, 'x' * 5000000))`), 5_000_000 + 'heard {"port":443}\n'.length)
  },
)
