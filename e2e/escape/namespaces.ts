import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { isIPv4 } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { world } from './world.ts'

/** A machine whose every route leads to the internet that is played, and nowhere else. */
export interface Namespaces {
  readonly machine: string
  readonly internet: string
}

const prefix = 'switchyard-escape-'
const ipMs = 10_000
const gateway = { v4: '198.51.100.2', v6: '2001:db8:e5c::2' }
/** Of the link between the two, as each side calls it. */
const outward = 'out0'
export const inward = 'in0'

const ip = (...words: string[]): string => execFileSync('ip', words, { timeout: ipMs, encoding: 'utf8' })
const ipWords = (text: string) => void ip(...text.split(' '))

export function makeNamespaces(): Namespaces {
  removeLeftovers()
  const machine = `${prefix}${process.pid}-machine`
  const internet = `${prefix}${process.pid}-internet`
  const { v4, v6 } = world.machine
  try {
    for (const name of [machine, internet]) {
      ipWords(`netns add ${name}`)
      ipWords(`-n ${name} link set lo up`)
    }
    ipWords(`-n ${machine} link add ${outward} type veth peer name ${inward} netns ${internet}`)
    ipWords(`-n ${machine} link set ${outward} up`)
    ipWords(`-n ${internet} link set ${inward} up`)
    ipWords(`-n ${machine} addr add ${v4} peer ${gateway.v4} dev ${outward}`)
    ipWords(`-n ${machine} addr add ${v6} peer ${gateway.v6} dev ${outward} nodad`)
    ipWords(`-n ${internet} addr add ${gateway.v4} peer ${v4} dev ${inward}`)
    ipWords(`-n ${internet} addr add ${gateway.v6} peer ${v6} dev ${inward} nodad`)
    ipWords(`-n ${machine} route add default via ${gateway.v4}`)
    ipWords(`-n ${machine} -6 route add default via ${gateway.v6} dev ${outward}`)
    // Restate asks for the name of its makers' host there, whatever it is told; the proxy has a resolver of its own.
    for (const address of resolversOfThisMachine()) ipWords(`-n ${machine} route add blackhole ${address}`)
    // Whoever is dialled, answers: an attempt that gets out is met by a server and not by silence.
    ipWords(`-n ${internet} route add local 0.0.0.0/0 dev lo table main`)
    ipWords(`-n ${internet} -6 route add local ::/0 dev lo table main`)
    ipWords(`-n ${internet} addr add ${world.resolver.v4}/32 dev lo`)
    ipWords(`-n ${internet} addr add ${world.resolver.v6}/128 dev lo nodad`)
    return { machine, internet }
  } catch (error) {
    removeNamespaces({ machine, internet })
    throw error
  }
}

function resolversOfThisMachine(): string[] {
  const text = readFileSync('/etc/resolv.conf', 'utf8')
  const addresses = [...text.matchAll(/^nameserver (\S+)/gm)].map(([, address = '']) => address)
  return [...new Set(addresses)].filter((address) => isIPv4(address) && !address.startsWith('127.'))
}

/** A folder that goes with it. */
export const folderOf = (namespace: string): string => join(tmpdir(), namespace)

/** The command that runs a program in one of them; files, processes and mounts stay those of the machine. */
export const inNamespace = (name: string, program: string, args: readonly string[]): [string, string[]] => [
  'nsenter',
  [`--net=/run/netns/${name}`, '--', program, ...args],
]

export function removeNamespaces({ machine, internet }: Namespaces): void {
  for (const name of [machine, internet]) removeNamespace(name)
}

/** Ends what still runs in it: a process would hold it, and its link, for as long as it lives. */
function removeNamespace(name: string): void {
  if (!listNamespaces().includes(name)) return
  for (const pid of ip('netns', 'pids', name).split('\n').filter(Boolean)) {
    try {
      process.kill(Number(pid), 'SIGKILL')
    } catch {
      // It has just ended.
    }
  }
  ip('netns', 'del', name)
  rmSync(folderOf(name), { recursive: true, force: true })
}

const listNamespaces = (): string[] =>
  ip('netns', 'list')
    .split('\n')
    .map((line) => line.split(' ')[0] ?? '')
    .filter((name) => name.startsWith(prefix))

/** Of runs that were killed. */
function removeLeftovers(): void {
  for (const name of listNamespaces()) {
    const pid = Number(name.slice(prefix.length).split('-')[0])
    if (!existsSync(`/proc/${pid}`)) removeNamespace(name)
  }
}
