import type Docker from 'dockerode'
import { text } from 'node:stream/consumers'

/** What an image says of itself when asked from inside; null for what it does not have. */
export interface Manifest {
  system: string
  release: string
  architecture: string
  languages: Record<'python' | 'node' | 'java' | 'php' | 'ruby' | 'go', string | null>
  tools: Record<'git' | 'gcc' | 'make' | 'curl' | 'jq' | 'npm' | 'zip' | 'unzip' | 'pip', string | null>
  pythonPackages: Record<string, string>
  packages: number
}

const RUN_BOUND_SECONDS = 120

/** Runs inside; knows only what every image has. */
const QUESTIONS = String.raw`
import json, re, subprocess
try:
    from importlib.metadata import distributions
    found = {d.metadata["Name"]: d.version for d in distributions()}
except Exception:
    found = {}
def ask(pattern, *command):
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=60)
    except OSError:
        return None
    match = re.search(pattern, done.stdout)
    return match.group(1) if match else None
number = r"(\d+\.\d+(?:\.\d+)*)"
release = dict(line.rstrip().replace('"', "").split("=", 1) for line in open("/etc/os-release") if "=" in line)
print(json.dumps({
    "system": release["ID"],
    "release": open("/etc/debian_version").read().strip(),
    "architecture": ask(r"(\S+)", "uname", "-m"),
    "languages": {
        "python": ask(number, "python3", "--version"),
        "node": ask(number, "node", "--version"),
        "java": ask(number, "java", "-version"),
        "php": ask(number, "php", "--version"),
        "ruby": ask(number, "ruby", "--version"),
        "go": ask("go" + number, "go", "version"),
    },
    "tools": {
        "git": ask(number, "git", "--version"),
        "gcc": ask(r"\) " + number, "gcc", "--version"),
        "make": ask(number, "make", "--version"),
        "curl": ask(number, "curl", "--version"),
        "jq": ask(number, "jq", "--version"),
        "npm": ask(number, "npm", "--version"),
        "zip": ask("Zip " + number, "zip", "-v"),
        "unzip": ask("UnZip " + number, "unzip", "-v"),
        "pip": ask(number, "pip3", "--version"),
    },
    "pythonPackages": {name: found[name] for name in ("numpy", "pandas", "matplotlib", "pillow") if name in found},
    "packages": len(subprocess.run(["dpkg-query", "-W"], stdout=subprocess.PIPE, text=True).stdout.splitlines()),
}))
`

/** Starts a throwaway container, asks it what it has, and removes it. */
export async function askManifest(docker: Docker, image: string): Promise<Manifest> {
  const container = await docker.createContainer({
    Image: image,
    Cmd: ['timeout', String(RUN_BOUND_SECONDS), 'python3', '-I', '-c', QUESTIONS],
    User: '1000:1000',
    WorkingDir: '/mnt/data',
    Env: ['PATH=/usr/local/bin:/usr/bin:/bin', 'LANG=C.UTF-8', 'HOME=/mnt/data'],
    Tty: true,
    HostConfig: { NetworkMode: 'none', CapDrop: ['ALL'], ReadonlyRootfs: true, Tmpfs: { '/tmp': 'rw,mode=1777' } },
  })
  try {
    const stream = await container.attach({ stream: true, stdout: true, stderr: true })
    const said = text(stream)
    await container.start()
    const { StatusCode: code } = (await container.wait()) as { StatusCode: number }
    if (code !== 0) throw new Error(`${image} could not say what it has (exit code ${code}): ${await said}`)
    return JSON.parse(await said) as Manifest
  } finally {
    await container.remove({ force: true, v: true })
  }
}
