import { InvalidSkill } from './skill-file.ts'

const pathBytesMax = 1_024
const stepBytesMax = 255
const stepsMax = 32
const shownMax = 100
const del = 0x7f
const firstPrintable = 0x20

/** What was sent, bounded and quoted, so that a message shows it as it is. */
export function shown(path: string): string {
  return JSON.stringify(path.length > shownMax ? `${path.slice(0, shownMax).toWellFormed()}…` : path)
}

function faultOf(path: string): string | null {
  if (path === '') return 'is empty'
  if (!path.isWellFormed()) return 'is not Unicode'
  for (const char of path) {
    const code = char.codePointAt(0) ?? 0
    if (code < firstPrintable || code === del) return 'has a control character'
  }
  // A separator on some systems and part of a name on others: no path with one means the same everywhere.
  if (path.includes('\\')) return 'has a backslash'
  if (path.startsWith('/') || /^[A-Za-z]:/.test(path)) return 'is absolute'
  if (Buffer.byteLength(path) > pathBytesMax) return `is longer than ${pathBytesMax} bytes`
  const steps = path.split('/')
  if (steps.length > stepsMax) return `is deeper than ${stepsMax} folders`
  if (steps.includes('..')) return 'leads out of the skill'
  if (steps.includes('.') || steps.includes('')) return 'has an empty step'
  if (steps.some((step) => Buffer.byteLength(step) > stepBytesMax))
    return `has a name longer than ${stepBytesMax} bytes`
  return null
}

/** Refuses a path that does not stay below its folder on every system. */
export function checkPath(path: string): void {
  const fault = faultOf(path)
  if (fault !== null) throw new InvalidSkill(`The path ${shown(path)} ${fault}.`)
}
