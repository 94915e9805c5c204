import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

export const IMAGE_KINDS = ['slim', 'full'] as const
export type ImageKind = (typeof IMAGE_KINDS)[number]

/** Debian 12; the distribution of the machine that builds does not matter. */
export const RELEASE = 'bookworm'
export const NODE_VERSION = '22.16.0'
export const NPM_VERSION = '10.9.2'
const TAG_HASH_CHARS = 12

/** What a root file system is made of, and what is laid on it afterwards: the second changes more often. */
const ROOTFS_FILES = ['finish-rootfs.sh', 'rootfs.ts', 'node-files.ts']
const TOOL_FILES = ['supervise.c', 'forwarder.py', 'manifest.py', 'tools-layer.ts']

export const IMAGE_CONFIG = {
  User: '65534:65534',
  WorkingDir: '/mnt/data',
  Cmd: ['sleep', 'infinity'],
  Env: ['PATH=/usr/local/bin:/usr/bin:/bin', 'LANG=C.UTF-8', 'HOME=/mnt/data'],
}

export function isImageKind(word: string | undefined): word is ImageKind {
  return IMAGE_KINDS.some((kind) => kind === word)
}

export function recipeFile(name: string): string {
  return fileURLToPath(new URL(name, import.meta.url))
}

export function readPackages(kind: ImageKind): string[] {
  return readFileSync(recipeFile(`packages-${kind}.txt`), 'utf8')
    .split('\n')
    .filter((name) => name !== '')
}

/** Names the root file system by everything that decides what is in it. */
export function rootfsHash(kind: ImageKind): string {
  const versions = kind === 'full' ? [NODE_VERSION, NPM_VERSION] : []
  return hash([kind, process.arch, RELEASE, ...versions], [`packages-${kind}.txt`, ...ROOTFS_FILES])
}

export function baseTag(kind: ImageKind): string {
  return `switchyard/sandbox-base:${kind}-${rootfsHash(kind)}`
}

export function imageTag(kind: ImageKind): string {
  return `switchyard/sandbox:${kind}-${hash([rootfsHash(kind), JSON.stringify(IMAGE_CONFIG)], TOOL_FILES)}`
}

function hash(words: string[], files: string[]): string {
  const digest = createHash('sha256').update(words.join('\n'))
  for (const file of files.map(recipeFile).filter(existsSync)) digest.update('\0').update(readFileSync(file))
  return digest.digest('hex').slice(0, TAG_HASH_CHARS)
}
