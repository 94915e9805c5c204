import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { chooseAccount } from './engines/account.ts'
import { canUnpackPackages } from './engines/apt-packages.ts'
import { findDocker } from './engines/docker-programs.ts'
import { enginesFolder } from './engines/engines-folder.ts'
import { findProgram } from './engines/find-program.ts'
import { portIsFree } from './engines/free-port.ts'
import { findPostgresPrograms } from './engines/postgres-programs.ts'
import { findRestate } from './engines/restate.ts'
import { findValkey } from './engines/valkey-program.ts'

const NODE_MIN = [24, 21] as const
const PROGRAM_BOUND_MS = 10_000
const GIB = 2 ** 30
const DISK_FAIL_GIB = 1
const DISK_WARN_GIB = 5
const PORTS = [
  { port: 8080, use: 'the API and the dashboard' },
  { port: 8443, use: 'the API over TLS' },
  { port: 8081, use: 'health and metrics' },
]
const run = promisify(execFile)

export interface Advice {
  debian: string
  fedora: string
  macos: string
}

export interface Check {
  name: string
  status: 'ok' | 'warn' | 'fail'
  /** What was found on this machine. */
  found: string
  /** How to get what is missing, by system. */
  advice: Advice
}

export interface DoctorOptions {
  /** Where the engines would keep their data. */
  dataDir?: string
  ports?: { port: number; use: string }[]
}

/** Looks for everything `npm run dev` needs on this machine, changing nothing. */
export async function runDoctor(options: DoctorOptions = {}): Promise<Check[]> {
  const dataDir = resolve(options.dataDir ?? '.data')
  return [
    checkNode(process.versions.node),
    await checkPostgres(),
    checkPostgresAccount(dataDir),
    checkValkey(),
    await checkRestate(),
    await checkDisk(dataDir),
    ...(await Promise.all((options.ports ?? PORTS).map(checkPort))),
    await checkDocker(),
  ]
}

export function doctorExitCode(checks: Check[]): 0 | 1 {
  return checks.some((check) => check.status === 'fail') ? 1 : 0
}

export function formatDoctor(checks: Check[]): string {
  const width = Math.max(...checks.map((check) => check.name.length))
  const lines = checks.flatMap((check) => {
    const [first = '', ...more] = check.found.split('\n')
    const indent = ' '.repeat(width + 8)
    const head = `${check.status.padEnd(4)}  ${check.name.padEnd(width)}  ${first}`
    return [head, ...more.map((line) => `${indent}${line}`), ...adviceLines(check).map((line) => `${indent}${line}`)]
  })
  const failed = checks.filter((check) => check.status === 'fail').length
  const warned = checks.filter((check) => check.status === 'warn').length
  return [...lines, '', `${checks.length} checks: ${failed} failed, ${warned} to look at`].join('\n')
}

function adviceLines(check: Check): string[] {
  if (check.status === 'ok') return []
  const { debian, fedora, macos } = check.advice
  if (debian === fedora && debian === macos) return [`→ ${debian}`]
  return [`→ Debian, Ubuntu: ${debian}`, `→ Fedora: ${fedora}`, `→ macOS: ${macos}`]
}

export function checkNode(version: string): Check {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const enough = major > NODE_MIN[0] || (major === NODE_MIN[0] && minor >= NODE_MIN[1])
  const shipped = 'npm ci brings Node 24; start programs with npm run'
  return {
    name: 'Node.js',
    status: enough ? 'ok' : 'fail',
    found: enough ? version : `${version}, but ${NODE_MIN.join('.')} or later is needed`,
    advice: { debian: shipped, fedora: shipped, macos: 'brew install node@24' },
  }
}

async function checkPostgres(): Promise<Check> {
  const programs = findPostgresPrograms()
  const said = programs === null ? null : await ask(programs.postgres, ['--version'])
  return {
    name: 'PostgreSQL',
    status: said === null ? 'fail' : 'ok',
    found: said === null ? 'not found, or it does not run' : `${said} (from ${programs?.source})`,
    advice: {
      debian: 'npm ci brings it; else apt-get install postgresql',
      fedora: 'npm ci brings it; else dnf install postgresql-server',
      macos: 'brew install postgresql@18',
    },
  }
}

function checkPostgresAccount(dataDir: string): Check {
  const paths = [join(nearestFolder(dataDir), 'postgres'), findPostgresPrograms()?.postgres ?? '/']
  const everywhere = 'run as an ordinary user, or keep the checkout where every user may enter'
  const advice = { debian: everywhere, fedora: everywhere, macos: everywhere }
  try {
    return { name: 'PostgreSQL user', status: 'ok', found: `it would run as ${chooseAccount(paths).name}`, advice }
  } catch (error) {
    return { name: 'PostgreSQL user', status: 'fail', found: (error as Error).message, advice }
  }
}

function checkValkey(): Check {
  const valkey = findValkey()
  const advice = {
    debian: 'apt-get install valkey-server (or redis-server, 7 or later)',
    fedora: 'dnf install valkey',
    macos: 'brew install valkey',
  }
  const name = 'Valkey'
  if (valkey !== null) return { name, status: 'ok', found: `${valkey.version} (${valkey.path})`, advice }
  if (!canUnpackPackages()) return { name, status: 'fail', found: 'not found', advice }
  const found = `not found; the first start unpacks the distribution's package into ${enginesFolder()}`
  return { name, status: 'warn', found, advice }
}

async function checkRestate(): Promise<Check> {
  const program = findRestate()
  const said = program === null ? null : await ask(program, ['--version'])
  return {
    name: 'Restate',
    status: said === null ? 'fail' : 'ok',
    found: said ?? `not found for ${process.platform}-${process.arch}, or it does not run`,
    advice: {
      debian: 'npm ci brings it; do not leave out optional packages',
      fedora: 'npm ci brings it; do not leave out optional packages',
      macos: 'brew install restatedev/tap/restate-server',
    },
  }
}

async function checkDisk(dataDir: string): Promise<Check> {
  const folder = nearestFolder(dataDir)
  const disk = await statfs(folder)
  const freeGib = (disk.bavail * disk.bsize) / GIB
  const enough = freeGib < DISK_WARN_GIB ? 'warn' : 'ok'
  const room = `make room, or keep the checkout on another disk: ${DISK_WARN_GIB} GiB are comfortable`
  return {
    name: 'Free disk',
    status: freeGib < DISK_FAIL_GIB ? 'fail' : enough,
    found: `${freeGib.toFixed(1)} GiB at ${folder}`,
    advice: { debian: room, fedora: room, macos: room },
  }
}

async function checkPort({ port, use }: { port: number; use: string }): Promise<Check> {
  const free = await portIsFree(port)
  const linux = `see who listens with: ss -ltnp 'sport = :${port}'; or choose another port`
  return {
    name: `Port ${port}`,
    status: free ? 'ok' : 'warn',
    found: free ? `free, for ${use}` : `taken, but wanted for ${use}`,
    advice: { debian: linux, fedora: linux, macos: `see who listens with: lsof -iTCP:${port} -sTCP:LISTEN` },
  }
}

async function checkDocker(): Promise<Check> {
  const docker = findProgram('docker')
  const said = docker === null ? null : await ask(docker, ['version', '--format', '{{.Server.Version}}'])
  const running = said === null || said === '' ? null : `engine ${said} answers`
  const programs = findDocker()
  const own =
    programs && `${programs.version} (${programs.dockerd}), gVisor ${programs.runscRelease} (${programs.runsc})`
  const unpack = `; the first use by a test unpacks the distribution's packages into ${enginesFolder()}`
  const missing = `dockerd or gVisor not found; needed only to run containers${canUnpackPackages() ? unpack : ''}`
  return {
    name: 'Docker',
    status: running === null && own === null ? 'warn' : 'ok',
    found: [running, own].filter((found) => found !== null).join('\n') || missing,
    advice: {
      debian: 'apt-get install docker.io; runsc from the backports',
      fedora: 'dnf install moby-engine; runsc from gvisor.dev',
      macos: 'brew install --cask docker (without gVisor)',
    },
  }
}

async function ask(program: string, args: string[]): Promise<string | null> {
  try {
    const { stdout } = await run(program, args, { timeout: PROGRAM_BOUND_MS })
    return stdout.trim()
  } catch {
    return null
  }
}

function nearestFolder(path: string): string {
  return existsSync(path) || dirname(path) === path ? path : nearestFolder(dirname(path))
}

async function main(): Promise<void> {
  const checks = await runDoctor()
  console.log(formatDoctor(checks))
  process.exitCode = doctorExitCode(checks)
}

if (import.meta.main) await main()
