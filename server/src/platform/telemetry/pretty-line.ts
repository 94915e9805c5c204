const LEVEL_COLOURS: Record<string, number> = { trace: 90, debug: 90, info: 32, warn: 33, error: 31, fatal: 31 }

/** One JSON line as a person at a terminal wants it: time, level, message, fields, then the stacks of an error. */
export function prettyLine(line: string): string {
  const { level, time, name, pid: _pid, msg, err, ...fields } = JSON.parse(line) as Record<string, unknown>
  const clock = new Date(Number(time)).toISOString().slice(11, 23)
  const label = String(level)
  const rest = Object.entries(fields).map(([key, value]) => `\u001b[90m${key}=\u001b[0m${shown(value)}`)
  const head = [clock, colour(label), `\u001b[36m${String(name)}\u001b[0m`, shown(msg ?? ''), ...rest].join(' ')
  return `${head}\n${stacks(err)}`
}

const colour = (label: string): string =>
  `\u001b[${LEVEL_COLOURS[label] ?? 0}m${label.toUpperCase().padEnd(5)}\u001b[0m`

const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

function stacks(err: unknown): string {
  if (typeof err !== 'object' || err === null) return ''
  const { causes = [], ...error } = err as { causes?: object[] }
  return [error, ...causes].map((one, depth) => indented(one, depth)).join('')
}

function indented(error: { stack?: unknown; message?: unknown }, depth: number): string {
  const text = String(error.stack ?? error.message)
  const lines = (depth === 0 ? text : `caused by ${text}`).split('\n')
  return lines.map((line) => `    ${line}\n`).join('')
}
