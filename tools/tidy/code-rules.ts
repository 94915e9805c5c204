import type { Finding, Layers } from './finding.ts'
import { importTimeCode } from './import-time.ts'
import { importsOf, lineAt } from './source.ts'
import type { Source } from './source.ts'
import { isProduct, isTest } from './zones.ts'

/** Rules about what the code does rather than whom it imports. */
export function codeFindings(source: Source, layers: Layers): Finding[] {
  return [
    ...defaultExports(source),
    ...environment(source, layers),
    ...workAtImport(source, layers),
    ...domainCalls(source),
  ]
}

function matches(source: Source, pattern: RegExp, make: (hit: string) => Omit<Finding, 'path' | 'line'>): Finding[] {
  return [...source.code.matchAll(pattern)].map((match) => ({
    path: source.path,
    line: lineAt(source.text, match.index),
    ...make(match[0].trim()),
  }))
}

function defaultExports(source: Source): Finding[] {
  return matches(source, /^export\s+default\b|^export\s*\{[^}]*\bas\s+default\b/gm, () => ({
    rule: 'default-export',
    message: 'default export',
    fix: 'Export it by name, so that it is called the same everywhere.',
  }))
}

function environment(source: Source, layers: Layers): Finding[] {
  if (!isProduct(source.path) || layers.environmentHomes.some((home) => source.path.startsWith(home))) return []
  const rule = 'environment'
  const fix = 'Declare a setting in server/src/platform/config and pass its value in.'
  const reads = matches(source, /\bprocess\s*(?:\?\.|\.)\s*env\b|\bprocess\s*\[/g, (hit) => ({
    rule,
    message: `${hit} is read outside the settings`,
    fix,
  }))
  const imports = importsOf(source).filter((item) => /^(?:node:)?process$/.test(item.specifier) && !item.typeOnly)
  const named = imports.map((item) => ({
    path: source.path,
    line: item.line,
    rule,
    message: `${item.specifier} is imported, which hides reads of the environment`,
    fix,
  }))
  return [...reads, ...named]
}

const WORK: [RegExp, string][] = [
  [/\bawait\b/, 'top-level await'],
  [
    /\bnew\s+(?:\w+\.)?(?:Pool|Client|Kysely|Redis|Valkey|Cluster|Server|Agent|Worker|Registry|S3Client|WebSocket\w*)\b/,
    '',
  ],
  [/\b(?:connect|listen|createServer|createPool|createConnection|createClient)\s*\(/, ''],
  [/\b(?:setInterval|setTimeout|setImmediate|queueMicrotask|fetch)\s*\(/, ''],
  [/\b(?:spawn|fork|exec|execFile)(?:Sync)?\s*\(/, ''],
  [/\b(?:readFile|writeFile|mkdir|readdir|stat|rm|appendFile|exists)Sync\s*\(/, ''],
  [/\bprocess\s*\.\s*(?:on|once|exit|chdir)\s*\(/, ''],
  [/\b(?:pino|[fF]astify)\s*\(/, ''],
]

function workAtImport(source: Source, layers: Layers): Finding[] {
  if (!isProduct(source.path) || layers.entryPoints.includes(source.path)) return []
  const executed = importTimeCode(source.code)
  return WORK.flatMap(([pattern, name]) =>
    [...executed.matchAll(new RegExp(pattern, 'g'))]
      // `pattern.exec(text)` is a regular expression at work, not a process.
      .filter((match) => !match[0].startsWith('exec') || executed[match.index - 1] !== '.')
      .map((match) => ({
        path: source.path,
        line: lineAt(source.text, match.index),
        rule: 'work-at-import',
        message: `${name === '' ? `\`${match[0].replace(/\s*\($/, '()')}\`` : name} runs when the file is imported`,
        fix: 'Put it in a function that main, wiring or a part of the lifecycle calls.',
      })),
  )
}

const ACTS = /(?<![\w.$])(?:fetch|setTimeout|setInterval|setImmediate)\s*\(|\bprocess\s*\.\s*(?!env\b)\w+/g

function domainCalls(source: Source): Finding[] {
  if (!isProduct(source.path) || isTest(source.path) || !source.path.includes('/domain/')) return []
  return matches(source, ACTS, (hit) => ({
    rule: 'pure-domain',
    message: `domain/ does no I/O, but uses ${hit.replace(/\s*\($/, '()')}`,
    fix: 'Take the value as an argument; let the route, step or store do the I/O.',
  }))
}
