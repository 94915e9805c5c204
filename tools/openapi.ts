import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { fileURLToPath } from 'node:url'
import { errorsReference, openapi } from '@switchyard/contracts/openapi.ts'
import { operations } from '@switchyard/contracts/operations.ts'
import manifest from '../package.json' with { type: 'json' }

const at = (path: string) => fileURLToPath(new URL(`../${path}`, import.meta.url))

/** What is printed from the contracts, and committed so that a diff shows what a change does to the wire. */
const printed: readonly { path: string; text: string }[] = [
  { path: 'openapi/public.json', text: `${JSON.stringify(openapi(operations, manifest.version), null, 2)}\n` },
  { path: 'docs/reference/errors.md', text: errorsReference() },
]

async function isCurrent({ path, text }: { path: string; text: string }): Promise<boolean> {
  try {
    return (await readFile(at(path), 'utf8')) === text
  } catch {
    return false
  }
}

if (process.argv.includes('--check')) {
  for (const page of printed) {
    if (await isCurrent(page)) continue
    process.stderr.write(`${page.path} is not current. Run: npm run openapi\n`)
    process.exitCode = 1
  }
} else {
  for (const { path, text } of printed) {
    await mkdir(dirname(at(path)), { recursive: true })
    await writeFile(at(path), text)
  }
}
process.stdout.write(`${operations.length} operations\n`)
