/**
 * The escape suite: the known ways round a network policy, tried from inside a hosted container of each runtime. The
 * product runs in a network namespace whose only route leads to another one that plays the internet and counts every
 * packet; nothing can leave the two. `--write` puts the table into docs/escape-suite.md.
 *
 * Statements: S1-2.2-a, S1-2.2-b, S1-5.3-b, S1-8.1, S1-8.2-a, S1-8.2-b.
 *
 *   node e2e/escape/escape.ts [--runtime runc|runsc|both] [--image slim|full] [--write]
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { Checks } from '../load/checks.ts'
import { inNamespace, makeNamespaces, removeNamespaces } from './namespaces.ts'
import { renderReport } from './report.ts'
import { runSuite, type Runtime } from './suite.ts'

const runtimesOf: Readonly<Record<string, readonly Runtime[]>> = {
  runc: ['runc'],
  runsc: ['runsc'],
  both: ['runc', 'runsc'],
}
const document = new URL('../../docs/escape-suite.md', import.meta.url)
const marks = { begin: '<!-- table: begin -->\n', end: '<!-- table: end -->' } as const

function readOptions() {
  const { values } = parseArgs({
    options: {
      runtime: { type: 'string', default: 'both' },
      image: { type: 'string', default: 'slim' },
      write: { type: 'boolean', default: false },
      /** Given by this program to itself: the namespace of the internet. */
      internet: { type: 'string' },
    },
  })
  const runtimes = runtimesOf[values.runtime]
  const { image } = values
  if (runtimes === undefined || (image !== 'slim' && image !== 'full')) {
    throw new Error('Usage: node e2e/escape/escape.ts [--runtime runc|runsc|both] [--image slim|full] [--write]')
  }
  return { ...values, runtimes, image } as const
}

/** Makes the namespaces, runs itself in that of the machine, and removes them however that ends. */
async function outside(): Promise<number> {
  if (process.getuid?.() !== 0) throw new Error('The escape suite makes network namespaces, which takes root.')
  readOptions()
  const namespaces = makeNamespaces()
  try {
    const words = [fileURLToPath(import.meta.url), ...process.argv.slice(2), '--internet', namespaces.internet]
    const child = spawn(...inNamespace(namespaces.machine, process.execPath, words), {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    })
    for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => child.kill(signal))
    const [code] = (await once(child, 'exit')) as [number | null]
    return code ?? 1
  } finally {
    removeNamespaces(namespaces)
  }
}

async function inside(internet: string): Promise<number> {
  // Whoever killed the program outside wants an end to this one too.
  const end = () => void process.kill(process.pid, 'SIGTERM')
  process.on('disconnect', end)
  const { runtimes, image, write } = readOptions()
  const checks = new Checks()
  const text = renderReport(await runSuite({ runtimes, image, internet }, checks))
  console.log(`\n${text}`)
  if (write) writeTable(text)
  process.off('disconnect', end)
  return checks.finish()
}

function writeTable(text: string): void {
  const page = readFileSync(document, 'utf8')
  const [begin, end] = [page.indexOf(marks.begin), page.indexOf(marks.end)]
  if (begin === -1 || end === -1) throw new Error('docs/escape-suite.md has no place for the table')
  writeFileSync(document, `${page.slice(0, begin + marks.begin.length)}\n${text}\n${page.slice(end)}`)
}

if (import.meta.main) {
  const { internet } = readOptions()
  process.exitCode = internet === undefined ? await outside() : await inside(internet)
}
