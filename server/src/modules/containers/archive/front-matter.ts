import { parseDocument } from 'yaml'
import { InvalidSkill, skillFileName, type SkillFile } from './skill-file.ts'

export interface SkillIdentity {
  readonly name: string
  readonly description: string
}

const frontMatterBytesMax = 16 * 1024
const descriptionMax = 1_024
const nameForm = /^[a-z0-9-]{1,64}$/
const opening = /^---[ \t]*\r?\n/
const closing = /\r?\n---[ \t]*(?:\r?\n|$)/

/** What `SKILL.md` at the root of a skill says the skill is. */
export function readIdentity(files: readonly SkillFile[]): SkillIdentity {
  const file = files.find(({ path }) => path === skillFileName)
  if (file === undefined) {
    throw new InvalidSkill(`There is no ${skillFileName} at the top, or in the one folder that everything is in.`)
  }
  const { name, description } = readYaml(frontMatterOf(file.bytes))
  if (name === undefined || !nameForm.test(name)) {
    throw new InvalidSkill(`The name in ${skillFileName} must be 1 to 64 lower-case letters, digits and hyphens.`)
  }
  if (description === undefined || description === '' || description.length > descriptionMax) {
    throw new InvalidSkill(`The description in ${skillFileName} must have 1 to ${descriptionMax} characters.`)
  }
  return { name, description }
}

function frontMatterOf(bytes: Buffer): string {
  const text = readText(bytes)
  const opened = opening.exec(text)
  // The line break before the closing line may be that of the opening one.
  const from = opened === null ? 0 : opened[0].length - 1
  const closed = opened === null ? null : closing.exec(text.slice(from))
  if (closed === null) {
    throw new InvalidSkill(`${skillFileName} must begin with front matter: YAML between two lines of three hyphens.`)
  }
  return text.slice(from, from + closed.index)
}

function readText(bytes: Buffer): string {
  // A cut in the middle of a character is beyond the front matter, and must not make the whole unreadable.
  const streaming = bytes.length > frontMatterBytesMax
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes.subarray(0, frontMatterBytesMax), {
      stream: streaming,
    })
  } catch (error) {
    throw new InvalidSkill(`${skillFileName} is not UTF-8.`, { cause: error })
  }
}

function readYaml(text: string): Record<string, string | undefined> {
  const refused = (cause: unknown) =>
    new InvalidSkill(`The front matter of ${skillFileName} is not valid YAML.`, { cause })
  let value: unknown
  try {
    // Failsafe: every scalar is the text that was written. Aliases are refused, so nothing grows while it is read.
    const document = parseDocument(text, { schema: 'failsafe', logLevel: 'silent' })
    if (document.errors.length > 0) throw refused(document.errors)
    value = document.toJS({ maxAliasCount: 0 })
  } catch (error) {
    throw refused(error)
  }
  const fields = value !== null && typeof value === 'object' && !Array.isArray(value) ? value : {}
  return { name: textOf(fields, 'name'), description: textOf(fields, 'description') }
}

function textOf(fields: object, key: string): string | undefined {
  const value: unknown = Object.hasOwn(fields, key) ? (fields as Record<string, unknown>)[key] : undefined
  if (typeof value !== 'string' || value.includes('\u0000') || !value.isWellFormed()) return undefined
  return value.trim()
}
