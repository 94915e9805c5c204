import { execFile } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, readdirSync, renameSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { NODE_VERSION, NPM_VERSION } from './recipe.ts'

const FETCH_BOUND_MS = 300_000
const run = promisify(execFile)

/** Node and npm from their npm packages, as a tar archive to lay on a root file system; returns its path. */
export async function packNode(work: string): Promise<string> {
  const root = join(work, 'node-root')
  const programs = join(root, 'usr', 'local', 'bin')
  const modules = join(root, 'usr', 'local', 'lib', 'node_modules')
  mkdirSync(programs, { recursive: true })
  mkdirSync(modules, { recursive: true })
  const node = await fetchPackage(work, `node-linux-${process.arch}@${NODE_VERSION}`)
  cpSync(join(node, 'bin', 'node'), join(programs, 'node'))
  chmodSync(join(programs, 'node'), 0o755)
  renameSync(await fetchPackage(work, `npm@${NPM_VERSION}`), join(modules, 'npm'))
  for (const name of ['npm', 'npx']) {
    symlinkSync(`../lib/node_modules/npm/bin/${name}-cli.js`, join(programs, name))
    chmodSync(join(modules, 'npm', 'bin', `${name}-cli.js`), 0o755)
  }
  const archive = join(work, 'node.tar')
  await run('tar', ['-cf', archive, '-C', root, '--owner=0', '--group=0', '--mode=go-w', 'usr'])
  return archive
}

async function fetchPackage(work: string, name: string): Promise<string> {
  const folder = join(work, name.replaceAll(/[^a-z0-9.]/g, '-'))
  mkdirSync(folder)
  // In an empty folder, so that no package.json above decides anything.
  await run('npm', ['pack', name, '--silent'], { cwd: folder, timeout: FETCH_BOUND_MS })
  const archive = readdirSync(folder).find((file) => file.endsWith('.tgz'))
  if (archive === undefined) throw new Error(`npm pack ${name} left no archive`)
  await run('tar', ['-xzf', archive, '--no-same-owner'], { cwd: folder, timeout: FETCH_BOUND_MS })
  return join(folder, 'package')
}
