import { RawJson } from './odd-values.ts'

/** As JSON.stringify, but with raw tokens as they stand and with `__proto__` and repeated names where they were put. */
export function jsonText(value: unknown): string {
  if (value instanceof RawJson) return value.text
  if (Array.isArray(value)) return `[${value.map(jsonText).join(',')}]`
  if (typeof value === 'object' && value !== null) {
    const pairs = Object.entries(value).map(([name, inner]) => `${JSON.stringify(name)}:${jsonText(inner)}`)
    return `{${pairs.join(',')}}`
  }
  return JSON.stringify(value) ?? 'null'
}
