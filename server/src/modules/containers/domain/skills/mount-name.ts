const mountNameMax = 64
const mountNameForEmpty = 'skill'

/** The name of a skill's folder in a container: no more than `[A-Za-z0-9._-]`, and never a hidden one, `.` or `..`. */
export function mountName(name: string): string {
  const plain = name
    .replaceAll(/[^A-Za-z0-9._-]+/g, '-')
    .replace(/^[.-]+/, '')
    .slice(0, mountNameMax)
  return plain === '' ? mountNameForEmpty : plain
}
