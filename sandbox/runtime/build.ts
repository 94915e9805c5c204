import { createWriteStream, mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import Docker from 'dockerode'
import { sharedDocker } from '../../dev/engines/shared-docker.ts'
import { ensureImage } from './ensure-image.ts'
import { askManifest } from './inside.ts'
import { IMAGE_KINDS, isImageKind } from './recipe.ts'

const USAGE = `\
Usage: node sandbox/runtime/build.ts <${IMAGE_KINDS.join('|')}> [--out image.tar] [--socket docker.sock]
       node sandbox/runtime/build.ts manifest <${IMAGE_KINDS.join('|')}> [--socket docker.sock]`

async function main(args: string[]): Promise<number> {
  const { values, positionals } = parseArgs({
    args,
    allowPositionals: true,
    options: { out: { type: 'string' }, socket: { type: 'string' } },
  })
  const asksManifest = positionals[0] === 'manifest'
  const kind = positionals[asksManifest ? 1 : 0]
  if (!isImageKind(kind)) {
    console.error(USAGE)
    return 2
  }
  const onProgress = (line: string) => console.error(line)
  const engine =
    values.socket === undefined ? await sharedDocker({ onProgress }) : { socket: values.socket, stop: async () => {} }
  try {
    const tag = await ensureImage(kind, engine.socket, onProgress)
    const docker = new Docker({ socketPath: engine.socket })
    if (asksManifest) console.log(JSON.stringify(await askManifest(docker, tag), null, 2))
    else console.log(tag)
    if (values.out !== undefined) await save(docker, tag, values.out)
    return 0
  } finally {
    await engine.stop()
  }
}

/** For `docker load` on another machine. */
async function save(docker: Docker, tag: string, file: string): Promise<void> {
  mkdirSync(dirname(file), { recursive: true })
  await pipeline(await docker.getImage(tag).get(), createWriteStream(file))
}

if (import.meta.main) process.exitCode = await main(process.argv.slice(2))
