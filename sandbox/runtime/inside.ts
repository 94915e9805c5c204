import { readFileSync } from 'node:fs'
import { text } from 'node:stream/consumers'
import type Docker from 'dockerode'
import { IMAGE_CONFIG, recipeFile } from './recipe.ts'

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

/** Starts a throwaway container, asks it what it has, and removes it. */
export async function askManifest(docker: Docker, image: string): Promise<Manifest> {
  const container = await docker.createContainer({
    Image: image,
    Cmd: ['timeout', String(RUN_BOUND_SECONDS), 'python3', '-I', '-c', readFileSync(recipeFile('manifest.py'), 'utf8')],
    User: '1000:1000',
    WorkingDir: IMAGE_CONFIG.WorkingDir,
    Env: IMAGE_CONFIG.Env,
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
