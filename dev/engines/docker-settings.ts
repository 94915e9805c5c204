import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DockerPrograms } from './docker-programs.ts'
import type { DockerFolders } from './docker-remains.ts'

const SHUTDOWN_BOUND_SECONDS = 5
// gVisor's own network is left out: containers have none. Sockets in a bound folder must be reachable.
const RUNSC_ARGS = ['--platform=systrap', '--network=none', '--host-uds=open']

export interface DockerCommands {
  containerd: string[]
  dockerd: string[]
}

export function dockerSocket(runDir: string): string {
  return join(runDir, 'docker.sock')
}

/** Writes the settings of both programs and returns the arguments that each is started with. */
export function writeSettings(folders: DockerFolders, programs: DockerPrograms): DockerCommands {
  const { dataRoot, runDir } = folders
  const containerdSocket = join(runDir, 'containerd.sock')
  const containerdFile = join(runDir, 'containerd.toml')
  const daemonFile = join(runDir, 'daemon.json')
  mkdirSync(runDir, { recursive: true, mode: 0o700 })
  mkdirSync(dataRoot, { recursive: true, mode: 0o711 })
  writeFileSync(containerdFile, containerdSettings(folders, containerdSocket))
  writeFileSync(daemonFile, `${JSON.stringify(daemonSettings(programs), null, 2)}\n`)
  return {
    containerd: ['--config', containerdFile],
    dockerd: [
      `--config-file=${daemonFile}`,
      `--data-root=${dataRoot}`,
      `--exec-root=${join(runDir, 'exec')}`,
      `--pidfile=${join(runDir, 'dockerd.pid')}`,
      `--host=unix://${dockerSocket(runDir)}`,
      // Without this, a containerd of the system would be used, and with it the containers of another engine.
      `--containerd=${containerdSocket}`,
      '--storage-driver=overlay2',
      // The network of the machine stays as it is.
      '--bridge=none',
      '--iptables=false',
      '--ip6tables=false',
      '--ip-forward=false',
      ...(programs.init === null ? [] : [`--init-path=${programs.init}`]),
    ],
  }
}

function containerdSettings({ dataRoot, runDir }: DockerFolders, socket: string): string {
  return [
    'version = 2',
    `root = ${JSON.stringify(join(dataRoot, 'containerd'))}`,
    `state = ${JSON.stringify(join(runDir, 'containerd'))}`,
    'disabled_plugins = ["io.containerd.grpc.v1.cri"]',
    '[grpc]',
    `address = ${JSON.stringify(socket)}`,
    '',
  ].join('\n')
}

function daemonSettings(programs: DockerPrograms) {
  return {
    'live-restore': true,
    'shutdown-timeout': SHUTDOWN_BOUND_SECONDS,
    'log-driver': 'json-file',
    'log-opts': { 'max-size': '1m', 'max-file': '2' },
    runtimes: { runsc: { path: programs.runsc, runtimeArgs: RUNSC_ARGS } },
  }
}
