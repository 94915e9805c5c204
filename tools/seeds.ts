import { readFileSync, writeFileSync } from 'node:fs'
import { readTree } from './tree.ts'

const ROOT = new URL('..', import.meta.url)
const CHECKLIST = new URL('docs/seed-checklist.md', ROOT)
const MODULES = new URL('tools/seeds-modules.json', ROOT)
const FLOOR = new URL('tools/seeds-floor.json', ROOT)
/** Tests of the tools themselves prove nothing about the product. */
const FOLDERS = ['packages', 'server', 'dashboard', 'sandbox', 'dev', 'e2e', 'bench']

const ID = /(?<![\w-])S[123]-\d+(?:\.\d+)?(?:-[a-z]{1,2})?(?![\w-])/g

export interface ModuleSeeds {
  module: string
  total: number
  uncited: string[]
}

export interface SeedReport {
  modules: ModuleSeeds[]
  /** Ids that a test cites and the checklist does not know. */
  unknown: { id: string; path: string }[]
  /** Ids that no entry of tools/seeds-modules.json covers. */
  homeless: string[]
}

/** The ids of the checklist's table rows, in order. */
export function checklistIds(markdown: string): string[] {
  return [...markdown.matchAll(/^\| (S[123]-\S+) \|/gm)].map((match) => match[1] ?? '')
}

/** The module of an id: that of the longest entry which is the id itself or a section around it. */
export function moduleOf(id: string, modules: Record<string, string>): string | null {
  const entries = Object.keys(modules).filter(
    (key) => id === key || id.startsWith(`${key}-`) || id.startsWith(`${key}.`),
  )
  const nearest = entries.sort((a, b) => b.length - a.length)[0]
  return nearest === undefined ? null : (modules[nearest] ?? null)
}

export function seedReport(
  ids: string[],
  modules: Record<string, string>,
  tests: ReadonlyMap<string, string>,
): SeedReport {
  const known = new Set(ids)
  const cited = new Set<string>()
  const unknown: SeedReport['unknown'] = []
  for (const [path, text] of tests) {
    for (const [id] of text.matchAll(ID)) {
      if (known.has(id)) cited.add(id)
      else unknown.push({ id, path })
    }
  }
  const names = [...new Set(Object.values(modules))].sort()
  const byModule = names.map((module) => {
    const own = ids.filter((id) => moduleOf(id, modules) === module)
    return { module, total: own.length, uncited: own.filter((id) => !cited.has(id)) }
  })
  return { modules: byModule, unknown, homeless: ids.filter((id) => moduleOf(id, modules) === null) }
}

/** The modules whose number of cited ids is below the stored one. */
export function fallen(report: SeedReport, floor: Record<string, number>): string[] {
  return Object.entries(floor).flatMap(([module, least]) => {
    const cited = citedIn(report, module)
    return cited < least ? [`${module}: ${cited} cited, ${least} before`] : []
  })
}

function citedIn(report: SeedReport, module: string): number {
  const found = report.modules.find((entry) => entry.module === module)
  return found === undefined ? 0 : found.total - found.uncited.length
}

function print(report: SeedReport): void {
  for (const { module, total, uncited } of report.modules) {
    console.log(`${module}: ${total - uncited.length} of ${total} cited`)
    if (uncited.length > 0) console.log(`    not cited: ${uncited.join(' ')}`)
  }
}

function main(args: string[]): void {
  const modules = JSON.parse(readFileSync(MODULES, 'utf8')) as Record<string, string>
  const floor = JSON.parse(readFileSync(FLOOR, 'utf8')) as Record<string, number>
  const ids = checklistIds(readFileSync(CHECKLIST, 'utf8'))
  const tests = readTree(ROOT, FOLDERS, /\.test\.tsx?$/)
  const report = seedReport(ids, modules, tests)
  const check = args.includes('--check')
  if (!check) print(report)

  const faults = [
    ...report.unknown.map(({ id, path }) => `${path} cites ${id}, which docs/seed-checklist.md does not hold`),
    ...report.homeless.map((id) => `${id} has no module in tools/seeds-modules.json`),
    ...(check ? fallen(report, floor).map((line) => `${line}: a test that proved a statement is gone`) : []),
  ]
  for (const fault of faults) console.error(fault)
  const cited = report.modules.reduce((sum, { total, uncited }) => sum + total - uncited.length, 0)
  console.log(
    `seeds: ${cited} of ${ids.length} statements cited by ${tests.size} test files, ${ids.length - cited} not cited`,
  )
  if (faults.length > 0 || ids.length === 0) process.exitCode = 1
  else if (args.includes('--raise')) {
    const raised = report.modules.map(({ module }) => [module, Math.max(citedIn(report, module), floor[module] ?? 0)])
    writeFileSync(FLOOR, `${JSON.stringify(Object.fromEntries(raised), null, 2)}\n`)
  }
}

if (import.meta.main) main(process.argv.slice(2))
