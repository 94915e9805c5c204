import { listContainerFiles } from '@switchyard/contracts/containers.ts'
import { HostedContainer } from '../../../server/src/modules/containers/testing/hosted-shell.ts'
import type { SandboxApp } from '../../../server/src/modules/containers/testing/sandbox-app.ts'
import type { Checks } from '../../load/checks.ts'
import type { Neighbour } from './neighbour.ts'

const manyFiles = 10_000
const pageSize = 100
const listMsMax = 120_000
const raceMs = 20_000

/** Attacks on whoever reads the files through the API. */
export async function proveFiles(
  app: SandboxApp,
  runtime: string,
  checks: Checks,
  neighbour: Neighbour,
): Promise<void> {
  neighbour.during('attack')
  await proveManyFiles(app, runtime, checks)
  await proveLinks(app, runtime, checks)
  await proveRace(app, runtime, checks)
  neighbour.during('quiet')
}

async function proveManyFiles(app: SandboxApp, runtime: string, checks: Checks): Promise<void> {
  const container = await HostedContainer.create(app)
  await container.sh(`python3 -c "
for at in range(${manyFiles}): open(f'/mnt/data/{at}.txt', 'w').write(str(at))"`)
  const began = performance.now()
  const seen = new Set<string>()
  let after: string | undefined
  let pages = 0
  do {
    const { body } = await app.call(listContainerFiles, {
      params: { container_id: container.id },
      query: { limit: pageSize, ...(after === undefined ? {} : { after }) },
    })
    for (const { path } of body.data) seen.add(path)
    pages += 1
    after = body.has_more ? (body.last_id ?? undefined) : undefined
  } while (after !== undefined && pages <= manyFiles / pageSize)
  const took = performance.now() - began
  checks.expect(
    `${runtime}: ${manyFiles} files are listed, page by page`,
    seen.size === manyFiles && took < listMsMax,
    `${seen.size} in ${pages} pages, ${(took / pages).toFixed(0)} ms each`,
  )
  await container.remove()
}

async function proveLinks(app: SandboxApp, runtime: string, checks: Checks): Promise<void> {
  const container = await HostedContainer.create(app)
  const { stdout } =
    await container.sh(`cd /mnt/data; echo plain > plain.txt; ln -s /etc/passwd link; ln -s /etc folder; ln -s .. up; ln plain.txt hard.txt
mkfifo pipe; ln /etc/passwd stolen 2>&1; python3 -c "
import socket; s = socket.socket(socket.AF_UNIX); s.bind('/mnt/data/sock')"; mkdir -p $(python3 -c "print('/'.join(['d' * 200] * 15))"); echo made`)
  const { body } = await app.call(listContainerFiles, {
    params: { container_id: container.id },
    query: { limit: pageSize },
  })
  const paths = body.data.map(({ path }) => path).toSorted()
  checks.expect(
    `${runtime}: links, pipes and sockets are no files of the API`,
    paths.join(' ') === '/mnt/data/hard.txt /mnt/data/plain.txt',
    `${paths.join(' ')}; ${stdout.trim()}`,
  )
  await container.remove()
}

/** A folder that becomes a link to /etc and back, as fast as it goes, while the API lists and reads. */
async function proveRace(app: SandboxApp, runtime: string, checks: Checks): Promise<void> {
  const container = await HostedContainer.create(app)
  const swapping = container.sh(
    `python3 -c "
import os, time
os.chdir('/mnt/data')
os.mkdir('a'); open('a/passwd', 'w').write('ours'); open('a/hostname', 'w').write('ours')
os.symlink('/etc', 'b')
until = time.time() + ${raceMs / 1_000}
while time.time() < until: os.rename('a', 'c'); os.rename('b', 'a'); os.rename('a', 'b'); os.rename('c', 'a')
open('f', 'w').write('ours'); os.symlink('/etc/passwd', 'g')
until = time.time() + ${raceMs / 4_000}
while time.time() < until: os.rename('f', 'h'); os.rename('g', 'f'); os.rename('f', 'g'); os.rename('h', 'f')"`,
  )
  let over = false
  void swapping.finally(() => (over = true))
  const read = { ours: 0, gone: 0, foreign: 0 }
  const listed = new Set<string>()
  while (!over) {
    const params = { container_id: container.id }
    const { body } = await app.call(listContainerFiles, { params, query: { limit: pageSize } })
    for (const { id, path } of body.data) {
      listed.add(path)
      const reply = await fetch(`${app.baseUrl}/v1/containers/${container.id}/files/${id}/content`, {
        headers: { authorization: `Bearer ${app.project.key}` },
      })
      const text = await reply.text()
      read[reply.status !== 200 ? 'gone' : text === 'ours' ? 'ours' : 'foreign'] += 1
    }
  }
  await swapping
  const strange = [...listed].filter((path) => !/^\/mnt\/data\/(?:[abc]\/(?:passwd|hostname)|[fgh])$/.test(path))
  checks.expect(
    `${runtime}: a folder that keeps becoming a link gives away nothing`,
    read.foreign === 0 && strange.length === 0 && read.ours > 0,
    `${JSON.stringify(read)} ${strange.slice(0, 5).join(' ')}`,
  )
  await container.remove()
}
