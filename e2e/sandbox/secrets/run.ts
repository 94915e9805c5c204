import { join } from 'node:path'
import { listDockerProcesses } from '../../../dev/engines/docker-remains.ts'
import { becomesTrue } from '../../../dev/engines/wait-until.ts'
import type { Checks } from '../../load/checks.ts'
import { eachOf } from '../../responses/audit-background.ts'
import { boxesOf, type BoxOnDisk } from '../boxes-on-disk.ts'
import { egressOf } from '../fleet-folder.ts'
import type { SandboxFleet } from '../sandbox-fleet.ts'
import { Asking } from './asking.ts'
import { checkCalls, checkPrinted } from './audit.ts'
import { Canary } from './canary.ts'
import { carryOut, type Done } from './carry-out.ts'
import { ignoreGone, lookAtExport, lookAtFiles, lookAtMemory, lookAtProcesses } from './inspect-box.ts'
import { killHost, killProxy } from './kills.ts'
import { hosts, type Outside } from './outside.ts'
import { proveRefusals } from './refusals.ts'
import { followScript, makeWork, names, type Kind, type Work } from './script.ts'
import { formsMissed, Store } from './search.ts'
import { logsOf, lookAtEngine, lookAtJournal, lookAtTables } from './stores.ts'
import { saveValkey, watchValkey } from './watch-valkey.ts'

const kinds: readonly Kind[] = [
  'foreground',
  'background',
  'streamed',
  'socket',
  'idempotent',
  'failed',
  'cancelled',
  'followed',
  'referenced',
  'unstored',
  'host killed',
  'proxy killed',
]
/** Containers that live until the end; the others are deleted when they have been looked at. */
const keptMax = 4
const exportsMax = 1
const goneMs = 60_000
/** At most so many containers work at the same time. */
const atOnce = 4

export interface RunUses {
  readonly fleet: SandboxFleet
  readonly outside: Outside
  readonly checks: Checks
}

/** One fleet, so many responses with secrets, and then the search. */
export class Run {
  readonly #use: RunUses
  readonly #asking: Asking
  readonly #canary = new Canary()
  readonly #works = new Map<number, Work>()
  readonly #done: Done[] = []
  readonly #kept: string[] = []
  readonly #memory: Store
  readonly #environment: Store
  readonly #files: Store
  readonly #exports: Store
  #processes = 0
  #exported = 0

  constructor(use: RunUses) {
    this.#use = use
    this.#asking = new Asking(use.fleet)
    const store = (name: string) => new Store(name, this.#canary, [this.#canary.mark])
    this.#memory = store('the memory of processes of containers, read from the machine')
    this.#environment = store('the environment and arguments of these processes')
    this.#files = store("files of containers: /mnt/data with a dump of memory made inside, /tmp, their host's folders")
    this.#exports = new Store('whole root file systems, exported', this.#canary, ['forwarder.py'])
  }

  async prove(count: number): Promise<void> {
    const { fleet, outside, checks } = this.#use
    const begun = performance.now()
    const tell = (what: string) => console.log(`  ${((performance.now() - begun) / 1_000).toFixed(1)} s: ${what}`)
    const valkey = await watchValkey(fleet.stack.valkey?.url ?? '')
    await this.#allow()
    followScript(fleet.double, this.#works)
    await this.#plan(count)
    const quiet = this.#of((kind) => kind !== 'host killed' && kind !== 'proxy killed')
    await this.#carryOutAll(quiet)
    tell(`${quiet.length} responses in ${new Set(quiet.map(({ kind }) => kind)).size} ways`)
    await proveRefusals(fleet, this.#asking, checks, this.#canary)
    tell('refusals')
    const use = { ...this.#use, asking: this.#asking }
    await this.#inParts(
      this.#of((kind) => kind === 'host killed'),
      (works) => killHost(use, works),
    )
    tell('host killed')
    await this.#inParts(
      this.#of((kind) => kind === 'proxy killed'),
      (works) => killProxy(use, works, this.#takeKept()),
    )
    tell('proxy killed')
    await this.#again()
    checkPrinted(checks, this.#done)
    checkCalls(checks, this.#canary, outside.calls, [...this.#works.values()])
    await this.#checkForgotten()
    await this.#searchAll(valkey.heard)
    valkey.close()
    tell('searched')
  }

  async #allow(): Promise<void> {
    const { first, second, plain } = hosts
    await this.#asking.ask('POST', '/organization/container_network_policy', {
      type: 'allowlist',
      allowed_domains: [first, second, plain],
    })
  }

  /** So many of the twelve kinds in turn; for each round one more that never needs its container. */
  async #plan(count: number): Promise<void> {
    for (let number = 1; number <= count; number += 1) this.#add(number, kinds[(number - 1) % kinds.length] as Kind)
    const rounds = Math.ceil(count / kinds.length)
    for (let round = 1; round <= rounds; round += 1) this.#add(count + round, 'unused')
  }

  #add(number: number, kind: Kind): Work {
    const work = makeWork(this.#canary, number, kind)
    this.#works.set(number, work)
    return work
  }

  #of(like: (kind: Kind) => boolean): Work[] {
    return [...this.#works.values()].filter(({ kind }) => like(kind))
  }

  async #carryOutAll(works: readonly Work[]): Promise<void> {
    for (let at = 0; at < works.length; at += atOnce) {
      await eachOf(works.slice(at, at + atOnce), async (work) => {
        const done = await carryOut(this.#asking, this.#use.outside, work)
        this.#done.push(done)
        await this.#lookAt(done)
      })
    }
  }

  async #inParts(works: readonly Work[], kill: (part: readonly Work[]) => Promise<Done[]>): Promise<void> {
    for (let at = 0; at < works.length; at += atOnce) {
      const done = await kill(works.slice(at, at + atOnce))
      this.#done.push(...done)
      for (const one of done) await this.#lookAt(one)
    }
  }

  #box(containerId: string | null): BoxOnDisk | undefined {
    const [host] = this.#use.fleet.hosts
    return boxesOf(host?.dir ?? '').find((box) => box.containerId !== null && box.containerId === containerId)
  }

  async #lookAt({ containerId }: Done): Promise<void> {
    const box = this.#box(containerId)
    if (box === undefined || containerId === null) return
    this.#processes += await lookAtProcesses(this.#memory, this.#environment, box.engineId)
    await lookAtFiles(this.#files, box)
    await this.#download(containerId)
    await this.#asking.ask('GET', `/containers/${containerId}/egress_receipts`)
    if (this.#exported < exportsMax) {
      this.#exported += 1
      await lookAtExport(this.#exports, this.#use.fleet.docker.socket, box.engineId)
    }
    if (this.#kept.length < keptMax) this.#kept.push(containerId)
    else await this.#asking.ask('DELETE', `/containers/${containerId}`)
  }

  /** All that the API gives out of it; the dump of memory, which is large, was looked at on the disk. */
  async #download(containerId: string): Promise<void> {
    const list = await this.#asking.ask('GET', `/containers/${containerId}/files`)
    for (const { id, path } of (list.body['data'] as { id: string; path: string }[] | undefined) ?? []) {
      if (path.endsWith('memory.bin')) continue
      await this.#asking.ask('GET', `/containers/${containerId}/files/${id}/content`)
    }
  }

  /** The containers that idle with secrets; each is given out once. */
  #takeKept(): string[] {
    return this.#kept.splice(0)
  }

  /** A new proxy serves new responses. */
  async #again(): Promise<void> {
    const work = this.#add(this.#works.size + 1, 'foreground')
    const done = await carryOut(this.#asking, this.#use.outside, work)
    this.#done.push(done)
    await this.#lookAt(done)
    this.#use.checks.expect('after that a new response has its secrets', done.status === 'completed', done.status)
  }

  /** Secrets go with their containers, those that were never needed too. */
  async #checkForgotten(): Promise<void> {
    const [host] = this.#use.fleet.hosts
    const proxy = egressOf(host?.dir ?? '')
    const left = async () => (await proxy.list()).filter(({ containerId }) => !this.#kept.includes(containerId))
    const gone = await becomesTrue(async () => (await left()).length === 0, goneMs)
    this.#use.checks.expect(
      'the proxy holds nothing for containers that are over or were never needed',
      gone,
      `${(await proxy.list()).length} held, ${this.#kept.length} containers live, ${(await left()).length} too many`,
    )
  }

  /** The one place: were it not found there, the search would be worth nothing. */
  async #lookWhereItIs(): Promise<void> {
    const [host] = this.#use.fleet.hosts
    const { pid } = await egressOf(host?.dir ?? '').ping()
    const store = new Store('the memory of the proxy', this.#canary, [])
    await lookAtMemory(store, pid)
    const { checks } = this.#use
    checks.expect('the same search does find it in the memory of the proxy', store.found, store.read)
    const missed = formsMissed(this.#canary)
    checks.expect('and in every encoding', missed.length === 0, missed.join(', '))
  }

  async #searchAll(heard: readonly Buffer[]): Promise<void> {
    const { fleet, checks } = this.#use
    const { mark } = this.#canary
    const ids = this.#done.map(({ responseId }) => responseId).filter((id) => id !== '')
    const store = (name: string, ...controls: string[]) => new Store(name, this.#canary, controls)
    const tables = store('PostgreSQL, every row of every table', mark, ...ids.slice(0, 5))
    const cluster = store("PostgreSQL's files, its write-ahead log among them", mark)
    const journal = store("Restate's journal and state, as it tells them", ...ids)
    const engine = store("Restate's files, its write-ahead log unpacked", ...ids)
    const commands = store('all commands that Valkey ever got', ...ids, mark)
    const dump = store("Valkey's dump", 'control.of.the.dump')
    const logs = store('logs of api, worker, sandbox, egress, dockerd, containerd, Restate, Valkey, PostgreSQL', ...ids)
    const replies = store('replies of the API, streams and frames among them', mark)
    const told = store('what the model was told', mark, `$${names.first}`, `$${names.second}`)
    const blobs = store('blobs', mark)
    const host = store("the sandbox host's folder", mark, 'host_')
    const docker = store("Docker's folders: configurations, layers, state", 'switchyard.host')
    const engines = store('the memory of dockerd, containerd and all that runs under them', 'switchyard.host')
    const others = store('the memory of worker, Restate, PostgreSQL and Valkey', ...ids)

    console.log(`  ${await lookAtTables(fleet, tables)}; ${this.#processes} processes of containers`)
    await lookAtJournal(fleet, journal)
    for (const chunk of heard) commands.look(chunk, 'a command')
    await saveValkey(fleet.stack.valkey?.url ?? '')
    for (const reply of this.#asking.kept) replies.look(reply, 'a reply')
    told.lookText(JSON.stringify(fleet.double.requests), 'a request to the model')
    for (const pid of listDockerProcesses(fleet.docker.folders)) await lookAtMemory(engines, pid).catch(ignoreGone)
    const { restate, postgres: database, valkey } = fleet.stack
    for (const { pid } of [fleet.of('worker').process, restate, database, valkey].filter((one) => one !== null)) {
      await lookAtMemory(others, pid)
    }
    await this.#lookWhereItIs()
    await host.lookFolder(join(fleet.folder, 'hosts'))
    await docker.lookFolder(fleet.docker.folders.dataRoot, (name) => name === 'merged')
    await docker.lookFolder(fleet.docker.folders.runDir, (name) => name === 'rootfs' || name === 'merged')
    await stopServers(fleet)
    for (const path of await logsOf(fleet)) await logs.lookFile(path)
    await lookAtEngine(fleet, engine)
    await cluster.lookFolder(join(fleet.folder, 'stack', 'postgres'))
    await dump.lookFolder(join(fleet.folder, 'stack', 'valkey'))
    await blobs.lookFolder(join(fleet.folder, 'stack', 'blobs'))

    const inside = [this.#memory, this.#environment, this.#files, this.#exports]
    const kept = [
      tables,
      cluster,
      journal,
      engine,
      commands,
      dump,
      logs,
      replies,
      told,
      blobs,
      host,
      docker,
      engines,
      others,
    ]
    for (const one of [...kept, ...inside]) one.tell(checks)
  }
}

/** What is left then is what lies on the disks. */
async function stopServers(fleet: SandboxFleet): Promise<void> {
  for (const node of [...fleet.nodes, ...fleet.hosts.map(({ node: one }) => one)]) await node.process.stop()
  // PostgreSQL is stopped under it.
  fleet.db.on('error', () => undefined)
  // Killed, so that its write-ahead log is there to be read as it was written.
  await fleet.stack.restate.kill9()
  await fleet.stack.postgres?.stop()
}
