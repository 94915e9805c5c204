import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import Docker from 'dockerode'
import { sharedDocker } from '../../dev/engines/shared-docker.ts'
import type { SharedDocker } from '../../dev/engines/shared-docker.ts'
import { ensureImage } from './ensure-image.ts'
import { askManifest } from './inside.ts'
import type { Manifest } from './inside.ts'
import { IMAGE_KINDS, recipeFile } from './recipe.ts'
import type { ImageKind } from './recipe.ts'

const needs = { skip: process.getuid?.() === 0 ? false : 'needs root' }
/** Each prints the version that the language itself reports, then the sum of one and two. */
const PROGRAMS: [language: string, wanted: string, command: string][] = [
  ['python', '3.11', `python3 -c 'import platform; print(platform.python_version(), 1 + 2)'`],
  ['node', '22.16', `node -e 'console.log(process.versions.node + " " + (1 + 2))'`],
  ['java', '17.0', `cat > A.java; java A.java`],
  ['php', '8.2', `php -r 'echo PHP_VERSION, " ", 1 + 2;'`],
  ['ruby', '3.1', `ruby -e 'puts "#{RUBY_VERSION} #{1 + 2}"'`],
  ['go', '1.23', `cat > a.go; go run a.go`],
]
const SOURCES: Record<string, string> = {
  java: 'class A { public static void main(String[] a) { System.out.println(System.getProperty("java.version") + " " + (1 + 2)); } }',
  go: 'package main\nimport ("fmt"; "runtime"; "strings")\nfunc main() { fmt.Println(strings.TrimPrefix(runtime.Version(), "go"), 1 + 2) }',
}

let engine: SharedDocker
let docker: Docker

before(async () => {
  if (needs.skip !== false) return
  engine = await sharedDocker()
  docker = new Docker({ socketPath: engine.socket })
})

after(async () => await engine?.stop())

interface Asked {
  kind: ImageKind
  command: string
  user?: string
}

/** What a command says in a container that is then removed; it may write to /mnt/data and /tmp only. */
async function ask({ kind, command, user = '1000:1000' }: Asked): Promise<string> {
  const container = await docker.createContainer({
    Image: await ensureImage(kind, engine.socket),
    Cmd: ['bash', '-euc', command],
    User: user,
    Tty: true,
    HostConfig: {
      NetworkMode: 'none',
      ReadonlyRootfs: true,
      SecurityOpt: ['no-new-privileges'],
      ...(user.startsWith('0') ? {} : { CapDrop: ['ALL'] }),
      Tmpfs: { '/tmp': 'rw,exec,mode=1777', '/mnt/data': 'rw,exec,uid=1000,gid=1000' },
    },
  })
  try {
    const said = text(await container.attach({ stream: true, stdout: true, stderr: true }))
    await container.start()
    await container.wait()
    return (await said).replaceAll('\r', '').trim()
  } finally {
    await container.remove({ force: true, v: true })
  }
}

// S1-2.7-i S1-2.7-j S1-2.7-k S1-2.7-l S1-2.7-m S1-2.7-n
for (const [language, wanted, command] of PROGRAMS) {
  test(`the full image runs programs of ${language} ${wanted}`, needs, async () => {
    const source = SOURCES[language]
    const fed = source === undefined ? command : `printf %s ${shellQuote(source)} | { ${command}; }`
    const said = await ask({ kind: 'full', command: fed })
    assert.match(said, new RegExp(`^${wanted.replace('.', '\\.')}(\\.\\d+)* 3$`))
  })
}

for (const kind of IMAGE_KINDS) {
  // S1-2.7-a
  test(`the ${kind} image is Debian 12, and keeps nothing of the machine that built it`, needs, async () => {
    const release = await ask({ kind, command: '. /etc/os-release; echo $ID $VERSION_ID; cat /etc/debian_version' })
    assert.match(release, /^debian 12\n12\.\d+$/)
    const sources = 'cat /etc/apt/sources.list; ls /etc/apt/sources.list.d; apt-config dump | grep -i proxy || true'
    assert.equal(await ask({ kind, command: sources, user: '0:0' }), '')
  })

  test(`nobody becomes somebody else in the ${kind} image`, needs, async () => {
    const found = await ask({ kind, command: 'find / -xdev -perm /6000; command -v sudo || true', user: '0:0' })
    assert.equal(found, '')
    assert.equal(
      await ask({ kind, command: 'id -u; id -g; id -un; echo $HOME; pwd' }),
      '1000\n1000\nsandbox\n/mnt/data\n/mnt/data',
    )
    const { Config } = await docker.getImage(await ensureImage(kind, engine.socket)).inspect()
    assert.deepEqual([Config.User, Config.WorkingDir, Config.Cmd], ['65534:65534', '/mnt/data', ['sleep', 'infinity']])
  })

  test(`the ${kind} image has the folders that the host binds, and says what it has`, needs, async () => {
    const folders = await ask({
      kind,
      command: 'stat -c "%n %u %a" /mnt/skills /run/egress /run/spool /opt/switchyard',
    })
    assert.equal(folders, '/mnt/skills 0 755\n/run/egress 0 755\n/run/spool 0 755\n/opt/switchyard 0 755')
    const written = JSON.parse(await ask({ kind, command: 'cat /opt/switchyard/manifest.json' })) as Manifest
    assert.deepEqual(written, await askManifest(docker, await ensureImage(kind, engine.socket)))
  })
}

test('the manifest in the repository names the languages that the full image has', needs, async () => {
  const committed = JSON.parse(readFileSync(recipeFile('manifest.json'), 'utf8')) as Manifest
  const { languages } = await askManifest(docker, await ensureImage('full', engine.socket))
  // The distribution mends its packages: only the first two numbers are promised.
  const promised = ({ languages: versions }: Pick<Manifest, 'languages'>) =>
    Object.entries(versions).map(([name, version]) => [name, version?.split('.').slice(0, 2).join('.')])
  assert.deepEqual(promised(committed), promised({ languages }))
})

test('two that ask for an image at once get the same', needs, async () => {
  const asked = await Promise.all([ensureImage('slim', engine.socket), ensureImage('slim', engine.socket)])
  assert.equal(asked[0], asked[1])
})

function shellQuote(words: string): string {
  return `'${words.replaceAll("'", `'\\''`)}'`
}
