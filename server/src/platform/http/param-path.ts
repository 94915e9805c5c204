export type Path = readonly PropertyKey[]

/** `a.b[0].c`, as people write it. */
export function paramOf(path: Path): string {
  let text = ''
  for (const step of path) {
    if (typeof step === 'number') text += `[${step}]`
    else text += text === '' ? String(step) : `.${String(step)}`
  }
  return text
}

/** What the caller wrote comes back to them bounded. */
const paramMax = 200

export function clip(text: string, max = paramMax): string {
  return text.length > max ? `${text.slice(0, max).toWellFormed()}…` : text
}
