import { posix } from 'node:path'

/** Where a file stands in the layering. */
export type Zone =
  | { kind: 'contracts' | 'client' | 'dashboard' | 'platform' | 'top' | 'harness' | 'outside' }
  | { kind: 'module'; module: string }

export function zoneOf(path: string): Zone {
  if (path.startsWith('packages/contracts/')) return { kind: 'contracts' }
  if (path.startsWith('packages/client/')) return { kind: 'client' }
  if (path.startsWith('dashboard/')) return { kind: 'dashboard' }
  if (path.startsWith('server/src/platform/')) return { kind: 'platform' }
  const module = /^server\/src\/modules\/([^/]+)\//.exec(path)?.[1]
  if (module !== undefined) return { kind: 'module', module }
  if (path.startsWith('server/test/') || path.startsWith('server/src/testing/')) return { kind: 'harness' }
  if (path.startsWith('server/src/')) return { kind: 'top' }
  return { kind: 'outside' }
}

/** Tests, and the kits that only tests use. */
export function isTest(path: string): boolean {
  return path.endsWith('.test.ts') || path.includes('/testing/') || path.startsWith('server/test/')
}

/** Code that ships: the server and the published packages, without their tests. */
export function isProduct(path: string): boolean {
  return /^(?:server\/src|packages)\//.test(path) && path.endsWith('.ts') && !isTest(path)
}

/** The path in this tree that an import names, or null for a package. */
export function targetOf(path: string, specifier: string): string | null {
  if (specifier.startsWith('.')) return posix.join(posix.dirname(path), specifier)
  if (specifier.startsWith('#platform/')) return `server/src/platform/${specifier.slice('#platform/'.length)}`
  if (specifier.startsWith('#modules/')) return `server/src/modules/${specifier.slice('#modules/'.length)}`
  const own = /^@switchyard\/([^/]+)(?:\/(.+))?$/.exec(specifier)
  if (own === null) return null
  if (own[1] === 'server') return `server/src/${own[2] ?? 'main.ts'}`
  return `packages/${own[1]}/src/${own[2] ?? 'index.ts'}`
}
