import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import type { Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { createEgressClient, EgressFailed } from './client.ts'
import { EgressProxy } from './proxy.ts'
import { startEgress } from './start.ts'
import { egressBench, enter, enterTls, get, say } from './testing/egress-bench.ts'
import { egressTest } from './testing/egress-test.ts'
import { upstream } from './testing/upstream.ts'

const SECRET = { domain: 'api.example', name: 'API_KEY', value: 'sk-very-secret-0123456789' }
const OPEN = { ports: [], plainHttpSecrets: false }
const POLLS_MAX = 500

async function until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let poll = 0; poll < POLLS_MAX; poll += 1) {
    if (await holds()) return
    await wait(10)
  }
  assert.fail(`not in time: ${what}`)
}

/** The other side is gone, whether it said so or not. */
async function over(socket: Socket): Promise<void> {
  socket.resume()
  await Promise.race([once(socket, 'end'), once(socket, 'close')])
  socket.destroy()
}

/** Ends every proxy of a folder, also one that was slower to start than the one that a test knows. */
async function endProxies(folder: string): Promise<void> {
  await until('all are ended', async () => {
    const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name))
    const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'latin1').catch(() => '')))
    const found = pids.filter((_pid, at) => lines[at]?.endsWith(`egress\0--folder\0${folder}\0`) === true)
    for (const pid of found) if (lives(Number(pid))) process.kill(Number(pid), 'SIGKILL')
    return found.length === 0
  })
  await rm(folder, { recursive: true, force: true })
}

function lives(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

// S1-8.2-a
egressTest('a domain that the organisation removes is cut at once, and only that one', async (t) => {
  const bench = await egressBench(t)
  await upstream(t, { address: bench.outside, ...bench.certificates })
  const { socketPath, containerId, organizationId, caPem } = await bench.container({
    domains: ['listed.example', 'api.example', 'other.example'],
    secrets: [SECRET],
  })
  const ca = [bench.certificates.ca, caPem ?? '']
  const open = async (servername: string): Promise<Socket> => {
    const tls = await enterTls(socketPath, { servername, ca })
    tls.on('error', () => undefined)
    tls.write(`GET / HTTP/1.1\r\nHost: ${servername}\r\n\r\n`)
    await once(tls, 'data')
    return tls
  }
  const [spliced, ended, kept] = await Promise.all([open('listed.example'), open('api.example'), open('other.example')])
  const cut = Promise.all([over(spliced), over(ended)])
  const from = performance.now()
  await bench.client.setOrganization(organizationId, { domains: ['other.example'], ...OPEN })
  await cut
  assert.ok(performance.now() - from < 1_000)
  kept.write('GET / HTTP/1.1\r\nHost: other.example\r\n\r\n')
  await once(kept, 'data')
  kept.destroy()
  await assert.rejects(enterTls(socketPath, { servername: 'listed.example', ca }))
  const receipts = await bench.receiptsOf(containerId, 4)
  assert.ok(receipts.some(({ host, reason }) => host === 'listed.example' && reason === 'domain_removed'))
  assert.ok(receipts.some(({ host, verdict }) => host === 'listed.example' && verdict === 'refused'))
})

egressTest('secrets wait for their container, stay with it, and go when it goes', async (t) => {
  const bench = await egressBench(t)
  const { client } = bench
  const given = (containerId: string) => ({
    containerId,
    organizationId: 'org_1',
    socketPath: join(bench.folder, `${containerId}.sock`),
    requestDomains: ['api.example'],
    ...OPEN,
  })
  await client.park('cntr_a', [SECRET])
  assert.deepEqual(await client.list(), [{ containerId: 'cntr_a', attached: false, hasSecrets: true }])
  const nowhere = { ...given('cntr_a'), socketPath: join(bench.folder, 'missing', 'proxy.sock') }
  await assert.rejects(client.attach(nowhere))
  const first = await client.attach(given('cntr_a'))
  assert.deepEqual(first.names, [{ name: 'API_KEY', domain: 'api.example' }])
  assert.equal((await stat(given('cntr_a').socketPath)).mode & 0o777, 0o666)
  assert.deepEqual(
    await client.attach(given('cntr_a')),
    first,
    'asked again after a restart, the authority is the same',
  )
  assert.equal(await client.detach('cntr_a'), true)
  assert.equal(await client.detach('cntr_a'), false)
  await assert.rejects(stat(given('cntr_a').socketPath))
  await client.park('cntr_b', [SECRET])
  assert.equal(await client.keep('cntr_b'), true)
  assert.equal(await client.keep('cntr_none'), false)
  assert.equal(await client.detach('cntr_b'), true)
  const bad = client.park('cntr_c', [{ ...SECRET, value: 'line\nbreak' }])
  await assert.rejects(bad, (error) => error instanceof EgressFailed && !error.gone && !error.message.includes('line'))
  assert.deepEqual(await client.list(), [])
})

egressTest('parked secrets are dropped in time unless they are kept', async () => {
  const proxy = new EgressProxy({}, 50)
  proxy.park('cntr_gone', [SECRET])
  proxy.park('cntr_kept', [SECRET])
  assert.equal(proxy.keep('cntr_kept'), true)
  await until('the first is dropped', () => proxy.list().length === 1)
  assert.deepEqual(proxy.list(), [{ containerId: 'cntr_kept', attached: false, hasSecrets: true }])
  assert.equal(proxy.keep('cntr_gone'), false)
})

egressTest('the proxy outlives the process that started it, which finds it again', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-egress-'))
  const program = `
    import { startEgress } from ${JSON.stringify(new URL('start.ts', import.meta.url).href)}
    const client = await startEgress({ folder: ${JSON.stringify(folder)}, settings: {}, environment: {} })
    await client.park('cntr_1', [${JSON.stringify(SECRET)}])
    console.log((await client.ping()).pid)
    setInterval(() => {}, 1000)`
  const role = spawn(process.execPath, ['--input-type=module', '-e', program], { stdio: ['ignore', 'pipe', 'inherit'] })
  const pid = Number(((await once(role.stdout, 'data')) as [Buffer])[0])
  t.after(() => endProxies(folder))
  role.kill('SIGKILL')
  await once(role, 'exit')
  const again = await startEgress({ folder, settings: {}, environment: {} })
  assert.equal(again.startedHere, false)
  assert.equal((await again.ping()).pid, pid)
  assert.deepEqual(await again.list(), [{ containerId: 'cntr_1', attached: false, hasSecrets: true }])
  assert.equal((await stat(folder)).mode & 0o777, 0o700)
  assert.doesNotMatch(await readFile(`/proc/${pid}/environ`, 'latin1'), /SWITCHYARD/)
  process.kill(pid, 'SIGTERM')
  await until('it ends when asked', () => !lives(pid))
  await assert.rejects(again.ping(), (error) => error instanceof EgressFailed && error.gone)
})

egressTest('two that start at once share one proxy, and a dead one is replaced', async (t) => {
  const folder = await mkdtemp(join(tmpdir(), 'switchyard-egress-'))
  t.after(() => endProxies(folder))
  const start = () => startEgress({ folder, settings: {}, environment: {} })
  const [one, two] = await Promise.all([start(), start()])
  const [{ pid }, other] = await Promise.all([one.ping(), two.ping()])
  assert.equal(pid, other.pid)
  process.kill(pid, 'SIGKILL')
  await until('it is dead', () => !lives(pid))
  const next = await (await start()).ping()
  assert.notEqual(next.pid, pid)
})

egressTest(
  'a container has a bounded number of connections, and silent ones do not hold up another container',
  async (t) => {
    const bench = await egressBench(t)
    await upstream(t, { address: bench.outside, ...bench.certificates })
    const greedy = await bench.container({ domains: ['listed.example'] })
    const modest = await bench.container({ domains: ['listed.example'] })
    const sockets = await Promise.all(Array.from({ length: 140 }, () => enter(greedy.socketPath, 443)))
    t.after(() => sockets.forEach((socket) => socket.destroy()))
    for (const socket of sockets) socket.on('error', () => socket.destroy())
    const receipts = await bench.receiptsOf(greedy.containerId, 12)
    assert.ok(receipts.every(({ reason }) => reason === 'too_many_connections'))
    assert.match(await say(await enter(modest.socketPath, 80), get('listed.example')), /hello/)
    await bench.client.detach(greedy.containerId)
    await until('they are closed', () =>
      sockets.every((socket) => socket.readableEnded || socket.destroyed || socket.closed),
    )
  },
)

egressTest('a path that is too long for a unix socket is listened on all the same', async (t) => {
  const bench = await egressBench(t)
  const folder = join(bench.folder, 'x'.repeat(120))
  await mkdir(folder)
  const rules = { requestDomains: [], ...OPEN }
  await bench.client.attach({
    containerId: 'cntr_1',
    organizationId: 'org_1',
    socketPath: join(folder, 'p.sock'),
    ...rules,
  })
  assert.ok((await stat(join(folder, 'p.sock'))).isSocket())
  await bench.client.detach('cntr_1')
  await assert.rejects(stat(join(folder, 'p.sock')))
})

egressTest('new settings are taken without a restart', async (t) => {
  const bench = await egressBench(t)
  await upstream(t, { address: bench.outside, ...bench.certificates })
  const { socketPath } = await bench.container({ domains: ['listed.example'] })
  assert.match(await say(await enter(socketPath, 80), get('listed.example')), /hello/)
  const folder = join(bench.folder, 'state')
  await startEgress({ folder, settings: { resolver: bench.dns.address }, environment: {} })
  assert.match(await say(await enter(socketPath, 80), get('listed.example')), /address_not_allowed/)
  assert.equal((await createEgressClient(folder).ping()).pid, bench.pid)
})
