import { posix } from 'node:path'
import type { Finding, Layers } from './finding.ts'
import { lineAt } from './source.ts'
import type { Source } from './source.ts'
import { isTest, zoneOf } from './zones.ts'

const MIGRATIONS = 'server/migrations/'

/** SQL knows dashes only inside quotes, so the schema of `ad-insights` is `ad_insights`. */
export function schemaOf(owner: string): string {
  return owner.replaceAll('-', '_')
}

function owners(layers: Layers): string[] {
  return ['platform', ...Object.keys(layers.modules)]
}

/** Words after which SQL names a table, type or schema; the name itself follows. */
const NAMES_OBJECT = new RegExp(
  String.raw`\b(?:` +
    [
      String.raw`(?:create|alter|drop)\s+(?:or\s+replace\s+)?(?:unlogged\s+|materialized\s+)?(?:table|view|type|sequence|function|procedure|domain)`,
      String.raw`create\s+(?:unique\s+)?index\b[^;(]*?\son`,
      String.raw`partition\s+of`,
      String.raw`references`,
      String.raw`insert\s+into`,
      String.raw`delete\s+from`,
      String.raw`truncate(?:\s+table)?(?=\s+(?!on\b))`,
    ].join('|') +
    String.raw`)\s+(?:concurrently\s+)?(?:if\s+(?:not\s+)?exists\s+)?(?:only\s+)?("?[a-z_][\w$]*"?(?:\s*\.\s*"?\w+"?)?)`,
  'gi',
)

const NAMES_SCHEMA = /\bschema\s+(?:if\s+(?:not\s+)?exists\s+)?"?([a-z_]\w*)"?/gi

/** A migration's name says who owns it, and the file names nothing outside that owner's schema. */
export function migrationFindings(files: ReadonlyMap<string, string>, layers: Layers): Finding[] {
  const paths = [...files.keys()].filter((path) => path.startsWith(MIGRATIONS) && path.endsWith('.sql')).sort()
  const numbers = new Map<string, string>()
  return paths.flatMap((path) => {
    const name = posix.basename(path)
    const number = name.slice(0, 4)
    const twin = numbers.get(number)
    numbers.set(number, name)
    const owner = owners(layers)
      .filter((candidate) => new RegExp(`^\\d{4}-${candidate}-[a-z0-9]+(?:-[a-z0-9]+)*\\.sql$`).test(name))
      .sort((a, b) => b.length - a.length)[0]
    if (owner === undefined) {
      const fix = 'Call it NNNN-<module>-<what>.sql, with a module of tools/layers.json or platform.'
      return [{ path, line: 1, rule: 'migration-name', message: 'the name does not say who owns it', fix }]
    }
    const fix = `Take the next free number: ${name} and ${twin} have no order.`
    const clash =
      twin === undefined
        ? []
        : [{ path, line: 1, rule: 'migration-name', message: `number ${number} is taken by ${twin}`, fix }]
    return [...clash, ...foreignNames(path, files.get(path) ?? '', owner, layers)]
  })
}

function foreignNames(path: string, text: string, owner: string, layers: Layers): Finding[] {
  const sql = blankSql(text)
  const schema = schemaOf(owner)
  const at = (position: number, message: string): Finding => ({
    path,
    line: lineAt(text, position),
    rule: 'schema-owner',
    message,
    fix: `A migration of ${owner} touches only ${schema}.*: write the schema out, and leave other schemas to their owners.`,
  })
  const others = owners(layers)
    .map(schemaOf)
    .filter((other) => other !== schema)
  const foreign = [...sql.matchAll(new RegExp(`(?<![\\w.])"?(?:${others.join('|')})"?\\s*\\.\\s*"?[a-z_]`, 'gi'))]
  const loose = [...sql.matchAll(NAMES_OBJECT)].filter((match) => {
    const parts = (match[1] ?? '').replaceAll('"', '').split(/\s*\.\s*/)
    return parts.length === 1 || (parts[0] !== schema && !others.includes(parts[0] ?? ''))
  })
  const schemas = [...sql.matchAll(NAMES_SCHEMA)].filter((match) => match[1] !== schema)
  return [
    ...foreign.map((match) => at(match.index, `names another schema: ${match[0]}…`)),
    ...loose.map((match) => at(match.index, `${match[1]} is not written as ${schema}.<name>`)),
    ...schemas.map((match) => at(match.index, `names schema ${match[1]}`)),
  ]
}

function blankSql(text: string): string {
  return text.replaceAll(/--[^\n]*|\/\*[\s\S]*?\*\/|'(?:[^']|'')*'/g, (part) => part.replaceAll(/[^\n]/g, ' '))
}

const BUILDS_QUERY =
  /\.(?:selectFrom|insertInto|updateTable|deleteFrom|mergeInto)\s*\(|(?<![\w.$])sql\s*(?:<[^`;]*>)?\s*`/g

/** A module's SQL stands in its store and names its own schema; platform's names `platform`. */
export function queryFindings(source: Source, layers: Layers): Finding[] {
  const zone = zoneOf(source.path)
  if (isTest(source.path) || (zone.kind !== 'module' && zone.kind !== 'platform')) return []
  const owner = zone.kind === 'module' ? zone.module : 'platform'
  const stored = zone.kind === 'module' && source.path.startsWith(`server/src/modules/${owner}/store/`)
  if (zone.kind === 'module' && !stored) {
    return [...source.code.matchAll(BUILDS_QUERY)].map((match) => ({
      path: source.path,
      line: lineAt(source.text, match.index),
      rule: 'sql-home',
      message: `${match[0]} builds a query outside store/`,
      fix: `Move the query to a function in server/src/modules/${owner}/store/ and call that.`,
    }))
  }
  const others = owners(layers)
    .filter((other) => other !== owner)
    .map(schemaOf)
    .join('|')
  const inSql = `\\b(?:from|join|into|update|table|references|only)\\s+"?(?:${others})"?\\.`
  const asTable = `^(?:${others})\\.[a-z_]+(?: as \\w+)?$`
  const pattern = new RegExp(stored ? `${inSql}|${asTable}` : inSql, 'i')
  return source.strings
    .filter((literal) => pattern.test(literal.text))
    .map((literal) => ({
      path: source.path,
      line: literal.line,
      rule: 'schema-owner',
      message: `a query of ${owner} names another schema: ${literal.text.trim().slice(0, 60)}`,
      fix: 'Ask the module that owns the table, through its index.ts, or read a view it publishes.',
    }))
}
