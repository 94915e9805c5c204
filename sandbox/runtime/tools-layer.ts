import { execFile } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { findProgram } from '../../dev/engines/find-program.ts'
import type { Manifest } from './inside.ts'
import { recipeFile } from './recipe.ts'
import { debootstrap } from './rootfs.ts'

const COMPILE_BOUND_MS = 120_000
const COMPILE = ['-static', '-O2', '-Wall', '-Wextra']
const run = promisify(execFile)

/** /opt/switchyard: what the host runs inside a container, and what the image has, as an archive; returns its path. */
export async function packTools(manifest: Manifest, work: string, enginesDir: string): Promise<string> {
  const root = join(work, 'tools-root')
  const tools = join(root, 'opt', 'switchyard')
  mkdirSync(tools, { recursive: true })
  // Here and not in the root file system, because mmdebstrap leaves /run empty.
  for (const folder of ['egress', 'spool']) mkdirSync(join(root, 'run', folder), { recursive: true })
  writeFileSync(join(tools, 'manifest.json'), `${JSON.stringify(manifest, null, 2)}\n`)
  if (existsSync(recipeFile('supervise.c'))) await compileSupervise(join(tools, 'supervise'), work, enginesDir)
  if (existsSync(recipeFile('forwarder.py'))) copyFileSync(recipeFile('forwarder.py'), join(tools, 'forwarder.py'))
  const archive = join(work, 'tools.tar')
  await run('tar', ['-cf', archive, '-C', root, '--owner=0', '--group=0', '--mode=u=rwX,go=rX', 'opt', 'run'])
  return archive
}

/** With the machine's compiler; where there is none, with one in a root file system made for it and thrown away. */
async function compileSupervise(out: string, work: string, enginesDir: string): Promise<void> {
  const source = recipeFile('supervise.c')
  const cc = findProgram('cc')
  if (cc !== null) {
    await run(cc, [...COMPILE, '-o', out, source], { timeout: COMPILE_BOUND_MS })
    return
  }
  const hooks = [
    `copy-in ${source} /tmp`,
    `chroot "$1" cc ${COMPILE.join(' ')} -o /tmp/supervise /tmp/supervise.c`,
    `copy-out /tmp/supervise ${join(out, '..')}`,
  ]
  await debootstrap(['gcc', 'libc6-dev'], hooks, join(work, 'compiler.tar'), { work, enginesDir })
}
