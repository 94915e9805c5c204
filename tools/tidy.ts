import { readFileSync } from 'node:fs'
import { readTree } from './tree.ts'
import { codeFindings } from './tidy/code-rules.ts'
import type { Finding, Layers } from './tidy/finding.ts'
import { importFindings } from './tidy/import-rules.ts'
import { readSource } from './tidy/source.ts'
import { migrationFindings, queryFindings } from './tidy/sql-rules.ts'
import { treeFindings } from './tidy/tree-rules.ts'

const FOLDERS = ['packages', 'server', 'dashboard', 'sandbox', 'dev', 'tools', 'e2e', 'bench']

export interface TidyReport {
  filesRead: number
  findings: Finding[]
}

/** Holds a tree, given as path and text, against the layering. Reads nothing itself, so tests can plant trees. */
export function tidy(files: ReadonlyMap<string, string>, layers: Layers): TidyReport {
  const sources = [...files].filter(([path]) => /\.tsx?$/.test(path)).map(([path, text]) => readSource(path, text))
  const findings = sources.flatMap((source) => [
    ...importFindings(source, layers),
    ...codeFindings(source, layers),
    ...queryFindings(source, layers),
  ])
  findings.push(...migrationFindings(files, layers), ...treeFindings(files, layers))
  if (files.size < layers.filesMin) {
    findings.push({
      path: 'tools/layers.json',
      line: 1,
      rule: 'files-read',
      message: `only ${files.size} files were read, at least ${layers.filesMin} are expected`,
      fix: 'Run it at the root of the project; if the tree really shrank, lower "filesMin".',
    })
  }
  return { filesRead: files.size, findings }
}

export function tidyLine(finding: Finding): string {
  return `${finding.path}:${finding.line} ${finding.rule}: ${finding.message}\n    ${finding.fix}`
}

function main(): void {
  const root = new URL('..', import.meta.url)
  const layers = JSON.parse(readFileSync(new URL('tools/layers.json', root), 'utf8')) as Layers
  const files = readTree(root, [...FOLDERS, 'ARCHITECTURE.md'], /\.(?:tsx?|sql|md)$/)
  const report = tidy(files, layers)
  for (const finding of report.findings) console.log(tidyLine(finding))
  console.log(`tidy: ${report.filesRead} files read, ${report.findings.length} findings`)
  if (report.findings.length > 0) process.exitCode = 1
}

if (import.meta.main) main()
