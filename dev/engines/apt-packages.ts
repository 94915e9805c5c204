import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { distributionSources, formatSources, parseOneLineSources, parseStanzaSources } from './apt-sources.ts'
import type { AptSource } from './apt-sources.ts'
import { findProgram } from './find-program.ts'

const APT_BOUND_MS = 300_000
const OUTPUT_BYTES_MAX = 16_000_000
const APT_FOLDER = '/etc/apt'
const run = promisify(execFile)

/** Whether packages of the distribution can be fetched and unpacked on this machine. */
export function canUnpackPackages(): boolean {
  return ['apt-get', 'apt-config', 'dpkg-deb'].every((program) => findProgram(program) !== null)
}

/**
 * Fetches packages of the distribution, with what they need and this machine lacks, and unpacks them into a folder.
 * Nothing is installed and nothing of the system's apt is changed: lists, cache and state are in the work folder.
 * A package may be named with the suite it must come from: `runsc/bookworm-backports`. Returns the packages with their versions.
 */
export async function unpackPackages(packages: string[], into: string, work: string): Promise<string[]> {
  const apt = await privateApt(work)
  // A source that does not answer may not matter; if it does, the next step says what is missing.
  const updated = await apt('apt-get', ['update']).then(
    () => true,
    () => false,
  )
  try {
    const simulated = await apt('apt-get', ['install', '--simulate', '--no-install-recommends', ...packages])
    const needed = [...simulated.matchAll(/^Inst (\S+) .*?\((\S+) /gm)].map((match) => `${match[1]}=${match[2]}`)
    const named = packages.filter((name) => !needed.some((version) => version.startsWith(`${bareName(name)}=`)))
    await apt('apt-get', ['download', ...needed, ...named])
  } catch (error) {
    const lists = updated ? '' : ', nor all lists of packages'
    throw new Error(`apt could not fetch ${packages.join(', ')}${lists}`, { cause: error })
  }
  const archives = readdirSync(work).filter((name) => name.endsWith('.deb'))
  for (const archive of archives) await run('dpkg-deb', ['-x', join(work, archive), into], { timeout: APT_BOUND_MS })
  return archives.map((archive) => archive.replace(/\.deb$/, ''))
}

function bareName(name: string): string {
  return name.replace(/\/.*$/, '')
}

/** Runs apt's programs with the machine's settings, but with sources, lists, cache and state of its own. */
async function privateApt(work: string): Promise<(program: string, args: string[]) => Promise<string>> {
  for (const folder of ['sources', 'lists/partial', 'cache/archives/partial', 'state', 'log']) {
    mkdirSync(join(work, folder), { recursive: true })
  }
  writeFileSync(
    join(work, 'sources', 'distribution.sources'),
    formatSources(distributionSources(readMachineSources(), readCodename())),
  )
  const dump = await run('apt-config', ['dump'], { maxBuffer: OUTPUT_BYTES_MAX, timeout: APT_BOUND_MS })
  const config = join(work, 'apt.conf')
  writeFileSync(config, privateConfig(dump.stdout, work))
  const env = { ...process.env, APT_CONFIG: config, LC_ALL: 'C' }
  return async (program, args) => {
    const ended = await run(program, args, { cwd: work, env, maxBuffer: OUTPUT_BYTES_MAX, timeout: APT_BOUND_MS })
    return ended.stdout
  }
}

// The machine's own settings hold proxies and credentials that reaching its mirror may need, but also hooks that
// clean the system's cache or refresh its catalogues after an update; those are left out.
function privateConfig(dump: string, work: string): string {
  const kept = dump.split('\n').filter((line) => !/^(APT::Update|DPkg|RPM|Unattended-Upgrade)\b/.test(line))
  return [
    ...kept,
    'Dir::Etc::main "/dev/null";',
    'Dir::Etc::parts "/dev/null";',
    'Dir::Etc::sourcelist "/dev/null";',
    `Dir::Etc::sourceparts "${join(work, 'sources')}";`,
    `Dir::State "${join(work, 'state')}";`,
    `Dir::State::lists "${join(work, 'lists')}";`,
    `Dir::Cache "${join(work, 'cache')}";`,
    `Dir::Log "${join(work, 'log')}";`,
    // apt would fetch as its own user, who often may not enter a folder under someone's home.
    'APT::Sandbox::User "root";',
    'Debug::NoLocking "true";',
    'Acquire::Languages "none";',
    'Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";',
    'Acquire::IndexTargets::deb::Contents-deb::DefaultEnabled "false";',
    '',
  ].join('\n')
}

/** All sources that this machine's apt has. */
export function readMachineSources(): AptSource[] {
  const parts = join(APT_FOLDER, 'sources.list.d')
  const files = existsSync(parts) ? readdirSync(parts).map((name) => join(parts, name)) : []
  const main = join(APT_FOLDER, 'sources.list')
  return [main, ...files].filter(existsSync).flatMap((file) => {
    if (file.endsWith('.list')) return parseOneLineSources(readFileSync(file, 'utf8'))
    return file.endsWith('.sources') ? parseStanzaSources(readFileSync(file, 'utf8')) : []
  })
}

export function readCodename(): string {
  const release = readFileSync('/etc/os-release', 'utf8')
  const codename = /^VERSION_CODENAME="?([a-z]+)"?$/m.exec(release)?.[1]
  if (codename === undefined) throw new Error('/etc/os-release names no VERSION_CODENAME')
  return codename
}
