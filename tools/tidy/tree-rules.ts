import { posix } from 'node:path'
import type { Finding, Layers } from './finding.ts'

const KEBAB_FILE = /^[a-z0-9]+(?:-[a-z0-9]+)*(?:\.[a-z0-9]+(?:-[a-z0-9]+)*)*\.tsx?$/
const KEBAB_FOLDER = /^[a-z0-9]+(?:-[a-z0-9]+)*$/

/** Rules about the tree itself: names, sizes, and the list of modules as it is told in three places. */
export function treeFindings(files: ReadonlyMap<string, string>, layers: Layers): Finding[] {
  const code = [...files].filter(([path]) => /\.tsx?$/.test(path))
  return [
    ...code.flatMap(([path]) => nameFindings(path)),
    ...code.flatMap(([path, text]) => sizeFindings(path, text, layers)),
    ...moduleFindings(files, layers),
    ...edgeFindings(layers),
  ]
}

function nameFindings(path: string): Finding[] {
  const folders = posix.dirname(path).split('/')
  if (KEBAB_FILE.test(posix.basename(path)) && folders.every((folder) => KEBAB_FOLDER.test(folder))) return []
  const fix = 'Use small letters and dashes, named for the one thing the file exports.'
  return [{ path, line: 1, rule: 'file-name', message: 'the path is not kebab-case', fix }]
}

function sizeFindings(path: string, text: string, layers: Layers): Finding[] {
  const lines = text.split('\n').length - (text.endsWith('\n') ? 1 : 0)
  if (lines <= layers.linesMax) return []
  const fix = 'Look for the second idea inside and give it a file of its own; split by idea, not by count.'
  return [
    { path, line: layers.linesMax + 1, rule: 'file-size', message: `${lines} lines, at most ${layers.linesMax}`, fix },
  ]
}

const ARCHITECTURE = 'ARCHITECTURE.md'

function moduleFindings(files: ReadonlyMap<string, string>, layers: Layers): Finding[] {
  const folders = new Set([...files.keys()].flatMap((path) => /^server\/src\/modules\/([^/]+)\//.exec(path)?.[1] ?? []))
  const unknown = [...folders].filter((name) => !Object.hasOwn(layers.modules, name))
  const strangers = unknown.map((name) => ({
    path: `server/src/modules/${name}`,
    line: 1,
    rule: 'module-list',
    message: `module ${name} is not in tools/layers.json`,
    fix: `Add "${name}" with the modules it may use, or move the files to the module they belong to.`,
  }))
  const listed = listedModules(files.get(ARCHITECTURE) ?? '')
  const missing = [...folders].filter((name) => !listed.includes(name))
  const gone = listed.filter((name) => !folders.has(name))
  const told = (message: string, fix: string) => ({ path: ARCHITECTURE, line: 1, rule: 'architecture', message, fix })
  return [
    ...strangers,
    ...missing.map((name) =>
      told(`module ${name} is not told of`, `Add a row that starts with \`${name}\` under the heading "Modules".`),
    ),
    ...gone.map((name) => told(`module ${name} has no folder in server/src/modules`, 'Take its row out.')),
  ]
}

/** The names in backticks that begin a list item or a table row under a heading "Modules". */
function listedModules(markdown: string): string[] {
  const section = /^(#+) Modules\b[^\n]*\n([\s\S]*?)(?=^#{1,6} |$(?![\s\S]))/m.exec(markdown)?.[2] ?? ''
  return [...section.matchAll(/^\s*(?:[-*]|\|)\s*\**`([a-z-]+)`/gm)].map((match) => match[1] ?? '')
}

function edgeFindings(layers: Layers): Finding[] {
  const at = (message: string, fix: string) => ({
    path: 'tools/layers.json',
    line: 1,
    rule: 'module-list',
    message,
    fix,
  })
  const strange = Object.entries(layers.modules).flatMap(([name, uses]) =>
    uses
      .filter((used) => !Object.hasOwn(layers.modules, used))
      .map((used) => at(`${name} uses ${used}, which is no module`, 'Mend the name or take the edge out.')),
  )
  const circular = Object.keys(layers.modules)
    .filter((name) => reachable(name, layers).has(name))
    .map((name) =>
      at(`${name} uses itself through others`, 'Turn one edge into an event: news flows up, knowledge down.'),
    )
  return [...strange, ...circular]
}

function reachable(start: string, layers: Layers): Set<string> {
  const seen = new Set<string>()
  const open = [...(layers.modules[start] ?? [])]
  // Each module enters the set once, so the walk ends after as many rounds as there are modules.
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (seen.has(next)) continue
    seen.add(next)
    open.push(...(layers.modules[next] ?? []))
  }
  return seen
}
