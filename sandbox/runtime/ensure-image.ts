import { createReadStream, existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import Docker from 'dockerode'
import { enginesFolder } from '../../dev/engines/engines-folder.ts'
import { withLock } from '../../dev/engines/lock-file.ts'
import { askManifest } from './inside.ts'
import { baseTag, IMAGE_CONFIG, imageTag, rootfsHash } from './recipe.ts'
import type { ImageKind } from './recipe.ts'
import { buildRootfs } from './rootfs.ts'
import { packTools } from './tools-layer.ts'

/** Longer than the full image takes on a slow machine. */
const LOCK_BOUND_MS = 30 * 60_000
/** What is kept per kind: the current one, and those that other checkouts may still use. */
const ROOTFS_KEPT_MAX = 3
const IMAGES_KEPT_MAX = 8

/**
 * The tag of an image of this recipe in the given engine. It is built once per machine and imported once per engine;
 * two processes that ask at once get the same.
 */
export async function ensureImage(
  kind: ImageKind,
  socket: string,
  onProgress?: (line: string) => void,
): Promise<string> {
  const docker = new Docker({ socketPath: socket })
  const tag = imageTag(kind)
  if (await hasImage(docker, tag)) return tag
  const cache = join(enginesFolder(), 'sandbox-images')
  return await withLock(join(cache, `${kind}.lock`), LOCK_BOUND_MS, async () => {
    if (await hasImage(docker, tag)) return tag
    await ensureBase(docker, kind, cache, onProgress)
    onProgress?.(`image: making ${tag}`)
    await layTools(docker, kind, tag)
    await removeOldImages(docker, kind)
    return tag
  })
}

async function ensureBase(docker: Docker, kind: ImageKind, cache: string, onProgress?: (line: string) => void) {
  const tag = baseTag(kind)
  if (await hasImage(docker, tag)) return
  const file = join(cache, `${kind}-${rootfsHash(kind)}.tar`)
  if (!existsSync(file)) {
    onProgress?.(`image: building the ${kind} root file system; this takes a minute or more, once`)
    const begun = performance.now()
    await buildRootfs(kind, file, enginesFolder())
    onProgress?.(`image: ${megabytes(file)} MB built after ${seconds(begun)} s`)
    removeOldFiles(cache, kind)
  }
  const begun = performance.now()
  const [repo = '', version = ''] = tag.split(':')
  await followed(docker, await docker.importImage(createReadStream(file), { repo, tag: version }))
  onProgress?.(`image: imported ${tag} after ${seconds(begun)} s`)
}

/** Puts /opt/switchyard on the base by way of a container that is never started. */
async function layTools(docker: Docker, kind: ImageKind, tag: string): Promise<void> {
  const work = mkdtempSync(join(tmpdir(), 'switchyard-image-'))
  const [repo, version] = tag.split(':')
  try {
    const manifest = await askManifest(docker, baseTag(kind))
    const tools = await packTools(manifest, work, enginesFolder())
    const container = await docker.createContainer({ Image: baseTag(kind), ...IMAGE_CONFIG })
    try {
      await container.putArchive(createReadStream(tools), { path: '/' })
      await container.commit({ repo, tag: version, comment: `switchyard sandbox, ${kind}` })
    } finally {
      await container.remove({ force: true, v: true })
    }
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

async function hasImage(docker: Docker, tag: string): Promise<boolean> {
  try {
    await docker.getImage(tag).inspect()
    return true
  } catch (error) {
    if ((error as { statusCode?: number }).statusCode === 404) return false
    throw error
  }
}

async function followed(docker: Docker, stream: NodeJS.ReadableStream): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    docker.modem.followProgress(stream, (error: Error | null) => (error === null ? resolve() : reject(error)))
  })
}

function removeOldFiles(cache: string, kind: ImageKind): void {
  const files = readdirSync(cache).filter((name) => name.startsWith(`${kind}-`) && name.endsWith('.tar'))
  const dated = files.map((name) => ({ path: join(cache, name), madeMs: statSync(join(cache, name)).mtimeMs }))
  const old = dated.toSorted((one, other) => other.madeMs - one.madeMs).slice(ROOTFS_KEPT_MAX)
  for (const { path } of old) rmSync(path, { force: true })
}

async function removeOldImages(docker: Docker, kind: ImageKind): Promise<void> {
  const images = await docker.listImages()
  const kept = [
    ['switchyard/sandbox', IMAGES_KEPT_MAX],
    ['switchyard/sandbox-base', ROOTFS_KEPT_MAX],
  ] as const
  for (const [repo, keptMax] of kept) {
    const tagged = images.flatMap(({ RepoTags, Created }) =>
      (RepoTags ?? []).filter((tag) => tag.startsWith(`${repo}:${kind}-`)).map((tag) => ({ tag, Created })),
    )
    const old = tagged.toSorted((one, other) => other.Created - one.Created).slice(keptMax)
    // One that a container still uses stays until the next time.
    for (const { tag } of old)
      await docker
        .getImage(tag)
        .remove()
        .catch(() => {})
  }
}

function megabytes(file: string): number {
  return Math.round(statSync(file).size / 1e6)
}

function seconds(begun: number): number {
  return Math.round((performance.now() - begun) / 1_000)
}
