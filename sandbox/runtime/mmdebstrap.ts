import { execFile } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { readCodename, readMachineSources } from '../../dev/engines/apt-packages.ts'
import { distributionSources, formatSources, parseOneLineSources } from '../../dev/engines/apt-sources.ts'
import type { AptSource } from '../../dev/engines/apt-sources.ts'
import { findProgram } from '../../dev/engines/find-program.ts'
import { unpackInto } from '../../dev/engines/unpacked-folder.ts'
import { RELEASE } from './recipe.ts'

const ASK_BOUND_MS = 10_000
const OUTPUT_BYTES_MAX = 64_000_000
const PUBLIC_SOURCES = `\
deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian ${RELEASE} main
deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian-security ${RELEASE}-security main
`

const BUILD_BOUND_MS = 20 * 60_000
const SAID_LINES_MAX = 30
const run = promisify(execFile)

export interface Workshop {
  /** For files of this run; whoever made it removes it. */
  work: string
  /** Where mmdebstrap is unpacked when the machine has none. */
  enginesDir: string
}

/** Makes a root file system as an archive; the mirror and how to reach it are the machine's. */
export async function mmdebstrap(options: string[], out: string, { work, enginesDir }: Workshop): Promise<void> {
  const { program, path, keyrings } = await findMmdebstrap(enginesDir)
  const sources = join(work, 'image.sources')
  writeFileSync(sources, formatSources(imageSources(keyrings)))
  const transport = (await aptTransport()).map((option) => `--aptopt=${option}`)
  // The suite stays empty: the sources name it.
  const args = [...transport, ...options, '', out, sources]
  const env = { ...process.env, PATH: path, TMPDIR: work, LC_ALL: 'C.UTF-8' }
  try {
    await run(program, args, { env, maxBuffer: OUTPUT_BYTES_MAX, timeout: BUILD_BOUND_MS })
  } catch (error) {
    const said = ((error as { stderr?: string }).stderr ?? '').trim().split('\n')
    // oxlint-disable-next-line preserve-caught-error -- it carries all that was said, some thousand lines
    throw new Error(`mmdebstrap failed:\n${said.slice(-SAID_LINES_MAX).join('\n')}`)
  }
}

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
  const own = machineSources()
  const sources = own.length > 0 ? own : distributionSources(parseOneLineSources(PUBLIC_SOURCES), RELEASE)
  return sources.map(
    (source) => new Map([...source].map(([name, value]) => [name, findKeyring(name, value, keyrings)])),
  )
}

/** A Debian's own sources, turned to the release of the image. */
function machineSources(): AptSource[] {
  if (!/^ID="?debian"?$/m.test(readFileSync('/etc/os-release', 'utf8'))) return []
  const codename = readCodename()
  return distributionSources(readMachineSources(), codename).map((source) => {
    const suites = (source.get('suites') ?? '').replaceAll(codename, RELEASE)
    return new Map([...source, ['suites', suites]])
  })
}

function findKeyring(name: string, value: string, keyrings: string): string {
  return name === 'signed-by' && value.startsWith('/') && !existsSync(value) ? join(keyrings, value) : value
}

/** What the machine's apt needs to reach its mirror, such as a proxy; the image keeps none of it. */
async function aptTransport(): Promise<string[]> {
  if (findProgram('apt-config') === null) return []
  const { stdout } = await run('apt-config', ['dump'], { maxBuffer: OUTPUT_BYTES_MAX, timeout: ASK_BOUND_MS })
  return stdout.split('\n').filter((line) => /^Acquire::https?::\S+ "[^"]+";$/.test(line))
}
