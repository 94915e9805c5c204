/**
 * https from inside a container, to a host whose TLS is passed on and to one where a secret is put in, against the same
 * program on the host's own network. Each side asks the same server.
 */
import assert from 'node:assert/strict'
import type Docker from 'dockerode'
import { randomInt } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fakeDns } from '../server/src/modules/containers/egress/testing/fake-dns.ts'
import { testCertificates } from '../server/src/modules/containers/egress/testing/test-ca.ts'
import { upstream, type Seen } from '../server/src/modules/containers/egress/testing/upstream.ts'
import type { Figure } from './figure.ts'
import { bareExec } from './sandbox-bare.ts'
import { withHost, withSandboxEngines, type BenchHost, type Runtime, type SandboxBench } from './sandbox-stack.ts'
import { ratioOf, type Turns } from './sandbox-turns.ts'

export type SandboxEgressSize = Omit<Turns, 'label'> & { readonly runtimes: readonly Runtime[] }

const plainName = 'listed.example'
const secretName = 'api.example'
const secret = { domain: secretName, name: 'API_TOKEN', value: 'value-of-the-bench' }
const program = readFileSync(new URL('https-client.py', import.meta.url), 'utf8')

/** Median ms of an answer. */
interface Answered {
  readonly fresh: number
  readonly kept: number
}

interface Outside {
  readonly ca: string
  readonly address: string
  readonly resolver: string
  readonly seen: readonly Seen[]
}

export async function benchSandboxEgress(size: SandboxEgressSize, say: (line: string) => void): Promise<Figure[]> {
  return await withSandboxEngines((bench) =>
    withOutside(async (outside) => {
      await allowDomains(bench)
      const figures: Figure[] = []
      for (const runtime of size.runtimes) figures.push(...(await measure(bench, outside, runtime, size, say)))
      return figures
    }),
  )
}

async function measure(
  bench: SandboxBench,
  outside: Outside,
  runtime: Runtime,
  { rounds, samples }: SandboxEgressSize,
  say: (line: string) => void,
): Promise<Figure[]> {
  const label = `sandbox-egress ${runtime}`
  const settings = { SWITCHYARD_EGRESS_RESOLVER: outside.resolver, SWITCHYARD_EGRESS_ADDRESSES: '127.77.0.0/16' }
  const asking = (host: string) =>
    `python3 - ${host} ${samples} 'Bearer $API_TOKEN' '${outside.ca}' <<'PROGRAM'\n${program}\nPROGRAM`
  const taken = await withHost(bench, { runtime, pool: 0, settings }, (host) =>
    withOpenContainer(bench, outside.address, async (open) => {
      const containerId = await placeWithNetwork(host)
      const inside = async (name: string) => read((await host.exec(containerId, asking(name))).stdout)
      const sides = [
        { name: 'spliced', ask: () => inside(plainName) },
        { name: 'injected', ask: () => inside(secretName) },
        { name: 'direct', ask: async () => read(await bareExec(open, asking(plainName))) },
      ]
      const all: Answered[][] = []
      for (let round = 0; round < rounds; round += 1) {
        const answered: Answered[] = []
        for (let step = 0; step < sides.length; step += 1) {
          const at = (round + step) % sides.length
          answered[at] = (await sides[at]?.ask()) ?? { fresh: Number.NaN, kept: Number.NaN }
        }
        all.push(answered)
        say(`${label} round ${round + 1}: ${sides.map(({ name }, at) => `${name} ${line(answered[at])}`).join(', ')}`)
      }
      return all
    }),
  )
  assertInjected(outside.seen)
  const figure = (name: string, at: number, kind: keyof Answered): Figure => ({
    name: `${label} ${name}`,
    ...ratioOf(
      taken.map((round) => round.map((side) => side[kind])),
      at,
      2,
    ),
    target: null,
  })
  return [
    figure('spliced p50', 0, 'fresh'),
    figure('injected p50', 1, 'fresh'),
    figure('spliced p50, connection kept', 0, 'kept'),
    figure('injected p50, connection kept', 1, 'kept'),
  ]
}

const read = (stdout: string) => JSON.parse(stdout) as Answered
const line = (one: Answered | undefined) => `${one?.fresh.toFixed(2)} ms, kept ${one?.kept.toFixed(2)} ms`

/** A figure of requests that carried no secret would say nothing. */
function assertInjected(seen: readonly Seen[]): void {
  const sent = seen.filter(({ host }) => host === secretName)
  assert.ok(sent.length > 0)
  for (const { headers } of sent) assert.equal(headers.authorization, `Bearer ${secret.value}`)
}

const placeWithNetwork = (host: BenchHost) =>
  host.place({
    network_policy: { type: 'allowlist', allowed_domains: [plainName, secretName], domain_secrets: [secret] },
  })

/** A server of the outside world, its DNS, and an authority that the proxy trusts. */
async function withOutside<Result>(work: (outside: Outside) => Promise<Result>): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-bench-'))
  const ends: (() => void)[] = []
  const context = { after: (end?: unknown) => void ends.push(end as () => void) }
  const before = process.env['NODE_EXTRA_CA_CERTS']
  try {
    const address = `127.77.${randomInt(1, 255)}.${randomInt(1, 255)}`
    const { ca, cert, key } = await testCertificates([plainName, secretName])
    const roots = join(folder, 'roots.pem')
    writeFileSync(roots, ca)
    process.env['NODE_EXTRA_CA_CERTS'] = roots
    const names = [plainName, secretName].map((name) => [name, [address]] as const)
    const dns = await fakeDns(context, new Map(names.map(([name, addresses]) => [name, [...addresses]])))
    const { seen } = await upstream(context, { address, cert, key })
    return await work({ ca, address, resolver: dns.address, seen })
  } finally {
    for (const end of ends) end()
    if (before === undefined) delete process.env['NODE_EXTRA_CA_CERTS']
    else process.env['NODE_EXTRA_CA_CERTS'] = before
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The same programs, on the network of the host. */
async function withOpenContainer<Result>(
  { docker, image }: SandboxBench,
  address: string,
  work: (container: Docker.Container) => Promise<Result>,
): Promise<Result> {
  const made = await docker.createContainer({
    Image: image,
    Cmd: ['sleep', 'infinity'],
    HostConfig: { NetworkMode: 'host', Runtime: 'runc', Init: true, ExtraHosts: [`${plainName}:${address}`] },
  })
  try {
    await made.start()
    return await work(made)
  } finally {
    await made.remove({ force: true })
  }
}

async function allowDomains(bench: SandboxBench): Promise<void> {
  await withHost(bench, { runtime: 'runc', pool: 0 }, async () => {
    const { httpPort, seeded } = bench.stack
    const reply = await fetch(`http://127.0.0.1:${httpPort}/v1/organization/container_network_policy`, {
      method: 'POST',
      headers: { authorization: `Bearer ${seeded.adminKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ type: 'allowlist', allowed_domains: [plainName, secretName] }),
    })
    assert.equal(reply.status, 200, await reply.text())
  })
}
