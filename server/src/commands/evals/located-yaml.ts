import { isMap, isNode, isScalar, LineCounter, parseDocument, type Document } from 'yaml'
import type { z } from 'zod'
import { UsageError } from '../command.ts'

const problemsMax = 10

/** Expanding them costs more than any file that a person wrote needs. */
const aliasesMax = 100

/** A YAML text that knows where in it each value stands. */
export interface LocatedYaml {
  readonly value: unknown
  /** `eval.yaml:12:3`, of the value that a path leads to or of the nearest around it. */
  placeOf(path: readonly PropertyKey[], key?: string): string
}

export function parseLocated(name: string, text: string): LocatedYaml {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false })
  const at = (offset: number) => {
    const { line, col } = lines.linePos(offset)
    return `${name}:${line}:${col}`
  }
  const [error] = document.errors
  if (error !== undefined) throw new UsageError(`${at(error.pos[0])}: ${error.message}`)
  let value: unknown
  try {
    value = document.toJS({ maxAliasCount: aliasesMax })
  } catch (error_) {
    throw new UsageError(`${name}: ${(error_ as Error).message}`)
  }
  return { value, placeOf: (path, key) => at(offsetOf(document, path, key)) }
}

function offsetOf(document: Document, path: readonly PropertyKey[], key?: string): number {
  for (let length = path.length; length >= 0; length -= 1) {
    const node: unknown = length === 0 ? document.contents : document.getIn(path.slice(0, length), true)
    if (!isNode(node)) continue
    const pair =
      isMap(node) && key !== undefined ? node.items.find((one) => isScalar(one.key) && one.key.value === key) : null
    const found = pair != null && isNode(pair.key) ? pair.key : node
    return found.range?.[0] ?? 0
  }
  return 0
}

const pathText = (path: readonly PropertyKey[]) =>
  path.map((step, at) => (typeof step === 'number' ? `[${step}]` : `${at === 0 ? '' : '.'}${String(step)}`)).join('')

type Path = readonly PropertyKey[]

/** Every problem at once, each with its place; `where` leads from what was checked to what was written. */
export function explain(
  yaml: LocatedYaml,
  { issues }: z.ZodError,
  where: (path: Path) => Path = (path) => path,
): string {
  const lines = issues.slice(0, problemsMax).map((issue) => {
    const path = where(issue.path)
    const key = issue.code === 'unrecognized_keys' ? issue.keys[0] : undefined
    const subject = pathText(key === undefined ? path : [...path, key])
    const what = key === undefined ? issue.message : 'there is no such key'
    return `${yaml.placeOf(path, key)}: ${subject === '' ? '' : `${subject}: `}${what}`
  })
  if (issues.length > problemsMax) lines.push(`… and ${issues.length - problemsMax} more.`)
  return lines.join('\n')
}
