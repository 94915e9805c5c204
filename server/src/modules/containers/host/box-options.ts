import { readFileSync } from 'node:fs'
import type { CreateOptions } from '#platform/docker/engine-api.ts'
import type { BoxFolder } from './box-folder.ts'

export interface BoxKind {
  readonly image: string
  readonly runtime: string
  readonly memoryBytes: number
}

export interface BoxLimits {
  readonly cpus: number
  readonly processes: number
}

/** The main process does nothing and belongs to nobody; commands run as someone else and cannot touch it. */
export const mainUser = '65534:65534'
const nanosPerCpu = 1e9
/** Under gVisor the limit of the control group counts the sandbox's own threads; the limit inside is `nproc`. */
const runscPids = 4_096
const tmpShare = 4
const openFiles = 16_384

let seccompText: string | null = null

/** Moby's default profile, newer than the engine's own: it also refuses io_uring. */
function seccomp(): string {
  seccompText ??= JSON.stringify(JSON.parse(readFileSync(new URL('seccomp.json', import.meta.url), 'utf8')))
  return seccompText
}

/** A container with no network, no capability, no way to gain one, and a bound on everything. */
export function boxOptions(
  name: string,
  labels: Record<string, string>,
  kind: BoxKind,
  { cpus, processes }: BoxLimits,
  folder: BoxFolder,
): CreateOptions {
  const bind = (source: string, target: string, mode: string) => `${source}:${target}:${mode}`
  const gvisor = kind.runtime.startsWith('runsc')
  return {
    name,
    Labels: labels,
    Image: kind.image,
    Cmd: ['sleep', 'infinity'],
    User: mainUser,
    WorkingDir: '/',
    Hostname: 'sandbox',
    HostConfig: {
      Runtime: kind.runtime,
      NetworkMode: 'none',
      Dns: ['127.0.0.1'],
      DnsSearch: ['.'],
      // The forwarder answers on 53, 80 and 443 without any capability. gVisor has no such rule to lift.
      ...(gvisor ? {} : { Sysctls: { 'net.ipv4.ip_unprivileged_port_start': '0' } }),
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges', `seccomp=${seccomp()}`],
      ReadonlyRootfs: true,
      Init: true,
      Privileged: false,
      Memory: kind.memoryBytes,
      MemorySwap: kind.memoryBytes,
      NanoCpus: Math.round(cpus * nanosPerCpu),
      PidsLimit: gvisor ? runscPids : processes,
      Ulimits: [
        { Name: 'nofile', Soft: openFiles, Hard: openFiles },
        { Name: 'core', Soft: 0, Hard: 0 },
        // On runc this would count all processes of the user on the whole machine.
        ...(gvisor ? [{ Name: 'nproc', Soft: processes, Hard: processes }] : []),
      ],
      Tmpfs: { '/tmp': `rw,nosuid,nodev,exec,size=${Math.floor(kind.memoryBytes / tmpShare)},mode=1777` },
      Binds: [
        bind(folder.disk, '/mnt/data', 'rw'),
        bind(folder.skills, '/mnt/skills', 'ro'),
        bind(folder.egress, '/run/egress', 'ro'),
        bind(folder.spool, '/run/spool', 'rw'),
      ],
      LogConfig: { Type: 'none', Config: {} },
      RestartPolicy: { Name: 'no' },
    },
  }
}
