import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { readCodename, readMachineSources } from '../../dev/engines/apt-packages.ts'
import { distributionSources, formatSources, parseOneLineSources } from '../../dev/engines/apt-sources.ts'
import type { AptSource } from '../../dev/engines/apt-sources.ts'
import { findProgram } from '../../dev/engines/find-program.ts'
import { unpackInto } from '../../dev/engines/unpacked-folder.ts'
import { packNode } from './node-files.ts'
import { readPackages, recipeFile, RELEASE } from './recipe.ts'
import type { ImageKind } from './recipe.ts'

const BUILD_BOUND_MS = 20 * 60_000
const OUTPUT_BYTES_MAX = 64_000_000
const PUBLIC_SOURCES = `\
deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian ${RELEASE} main
deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian-security ${RELEASE}-security main
`
const LEFT_OUT = ['/usr/share/man/*', '/usr/share/locale/*', '/usr/share/doc/*', '/usr/share/info/*']
const run = promisify(execFile)

/** Makes the root file system of an image from Debian's packages; the file appears whole or not at all. */
export async function buildRootfs(kind: ImageKind, file: string, enginesDir: string): Promise<void> {
  const folder = join(file, '..')
  mkdirSync(folder, { recursive: true })
  const work = mkdtempSync(join(folder, 'draft-'))
  try {
    const hooks = kind === 'full' ? [`tar-in ${await packNode(work)} /`] : []
    const draft = join(work, 'rootfs.tar')
    const included = readPackages(kind)
    await debootstrap(included, [...hooks, `${recipeFile('finish-rootfs.sh')} "$1"`], draft, work, enginesDir)
    renameSync(draft, file)
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

/** Runs mmdebstrap, unpacking it first where the machine has none. Hooks see the new root as `$1`. */
export async function debootstrap(
  packages: string[],
  hooks: string[],
  out: string,
  work: string,
  enginesDir: string,
): Promise<void> {
  const { program, path, keyrings } = await findMmdebstrap(enginesDir)
  const sources = join(work, 'image.sources')
  writeFileSync(sources, formatSources(imageSources(keyrings)))
  const args = [
    '--variant=minbase',
    `--include=${packages.join(',')}`,
    ...LEFT_OUT.map((pattern) => `--dpkgopt=path-exclude=${pattern}`),
    ...(await aptTransport()).map((option) => `--aptopt=${option}`),
    ...hooks.map((hook) => `--customize-hook=${hook}`),
    '',
    out,
    sources,
  ]
  const env = { ...process.env, PATH: path, LC_ALL: 'C.UTF-8' }
  try {
    await run(program, args, { env, maxBuffer: OUTPUT_BYTES_MAX, timeout: BUILD_BOUND_MS })
  } catch (error) {
    const said = String((error as { stderr?: string }).stderr ?? '').split('\n')
    throw new Error(`mmdebstrap failed:\n${said.slice(-SAID_LINES_MAX).join('\n')}`, { cause: error })
  }
}

const SAID_LINES_MAX = 20

async function findMmdebstrap(enginesDir: string) {
  const path = process.env['PATH'] ?? ''
  const installed = findProgram('mmdebstrap')
  if (installed !== null) return { program: installed, path, keyrings: '/' }
  const unpacked = join(enginesDir, `mmdebstrap-${process.arch}`)
  const programs = join(unpacked, 'usr', 'bin')
  if (!existsSync(programs)) await unpackInto(unpacked, ['mmdebstrap', 'debian-archive-keyring'])
  return { program: join(programs, 'mmdebstrap'), path: [programs, path].join(delimiter), keyrings: unpacked }
}

/**
 * The mirror that this machine uses, when it is a Debian, else the public one. Only mmdebstrap sees it: the image
 * keeps no sources.
 */
function imageSources(keyrings: string): AptSource[] {
  const codename = readCodename()
  const isDebian = /^ID="?debian"?$/m.test(readFileSync('/etc/os-release', 'utf8'))
  const own = isDebian ? distributionSources(readMachineSources(), codename) : []
  const renamed = own.map((source) => {
    const suites = (source.get('suites') ?? '').replaceAll(codename, RELEASE)
    return new Map([...source, ['suites', suites]])
  })
  const sources = renamed.length > 0 ? renamed : distributionSources(parseOneLineSources(PUBLIC_SOURCES), RELEASE)
  return sources.map(
    (source) => new Map([...source].map(([name, value]) => [name, findKeyring(name, value, keyrings)])),
  )
}

function findKeyring(name: string, value: string, keyrings: string): string {
  return name === 'signed-by' && value.startsWith('/') && !existsSync(value) ? join(keyrings, value) : value
}

/** What the machine's apt needs to reach its mirror, such as a proxy; the image keeps none of it. */
async function aptTransport(): Promise<string[]> {
  if (findProgram('apt-config') === null) return []
  const { stdout } = await run('apt-config', ['dump'], { maxBuffer: OUTPUT_BYTES_MAX, timeout: BUILD_BOUND_MS })
  return stdout.split('\n').filter((line) => /^Acquire::https?::\S+ "[^"]+";$/.test(line))
}
