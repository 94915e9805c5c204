import type { Finding, Layers } from './finding.ts'
import { importsOf } from './source.ts'
import type { Import, Source } from './source.ts'
import { isTest, targetOf, zoneOf } from './zones.ts'
import type { Zone } from './zones.ts'

interface Step {
  path: string
  from: Zone
  to: Zone
  target: string
  item: Import
  layers: Layers
}

type Report = (rule: string, message: string, fix: string) => Finding

/** Layers, front doors, package homes and the purity of `domain/`: everything an import statement can break. */
export function importFindings(source: Source, layers: Layers): Finding[] {
  const from = zoneOf(source.path)
  return importsOf(source).flatMap((item) => {
    const report: Report = (rule, message, fix) => ({ path: source.path, line: item.line, rule, message, fix })
    const target = targetOf(source.path, item.specifier)
    const pure = purityFinding(source.path, item, target, layers, report)
    if (target === null) return [...pure, ...packageFindings(source.path, from, item, layers, report)]
    const step = { path: source.path, from, to: zoneOf(target), target, item, layers }
    return [...pure, ...stepFindings(step, report)]
  })
}

function stepFindings(step: Step, report: Report): Finding[] {
  const { path, from, to, item } = step
  const name = item.specifier
  if (from.kind === 'outside' || from.kind === 'harness') return []
  if (item.deferred && step.layers.devCallers.includes(path) && step.target.startsWith('dev/')) return []
  if (to.kind === 'outside' && !isTest(path)) {
    return [report('layers', `${name} is outside the product`, 'Move what you need into the layer that uses it.')]
  }
  if (to.kind === 'harness' && !isTest(path)) {
    return [report('layers', `${name} exists for tests only`, 'Move the shared part out of the test harness.')]
  }
  if (to.kind === 'outside' || to.kind === 'harness') return []
  const wrongWay = directionFindings(step, report)
  if (wrongWay.length > 0) return wrongWay
  return [...doorFindings(step, report), ...visibilityFindings(step, report)]
}

const MAY_USE: Record<Exclude<Zone['kind'], 'outside' | 'harness'>, Zone['kind'][]> = {
  contracts: ['contracts'],
  client: ['client', 'contracts'],
  dashboard: ['dashboard', 'client', 'contracts'],
  platform: ['platform', 'contracts'],
  module: ['module', 'platform', 'contracts'],
  top: ['top', 'module', 'platform', 'contracts'],
}

function directionFindings({ from, to, item, layers }: Step, report: Report): Finding[] {
  if (from.kind === 'outside' || from.kind === 'harness') return []
  if (!MAY_USE[from.kind].includes(to.kind)) {
    const fix =
      from.kind === 'platform' && to.kind === 'module'
        ? 'Platform never names a module: let the module pass in what platform needs.'
        : 'Imports go contracts <- platform <- modules <- wiring, roles, main. Turn the dependency round.'
    return [report('layers', `${from.kind} may not import ${to.kind} (${item.specifier})`, fix)]
  }
  if (from.kind !== 'module' || to.kind !== 'module' || from.module === to.module) return []
  if (layers.modules[from.module]?.includes(to.module) === true) return []
  const fix = `Ask for it through wiring or an event, or add "${to.module}" to "${from.module}" in tools/layers.json and say why.`
  return [report('module-edge', `module ${from.module} may not use module ${to.module}`, fix)]
}

function doorFindings({ path, from, to, target, item, layers }: Step, report: Report): Finding[] {
  if (to.kind !== 'module' || (from.kind === 'module' && from.module === to.module)) return []
  const door = `server/src/modules/${to.module}/index.ts`
  const kit = `server/src/modules/${to.module}/testing/`
  if (item.deferred && from.kind === 'top' && layers.sideDoors.includes(target)) return []
  if (target === door || (isTest(path) && target.startsWith(kit))) return []
  const fix = `Import #modules/${to.module}/index.ts and, if it lacks what you need, export that there.`
  return [report('front-door', `module ${to.module} is entered around its index.ts`, fix)]
}

function visibilityFindings({ from, to, item }: Step, report: Report): Finding[] {
  const relative = item.specifier.startsWith('.')
  const same = from.kind === to.kind && (from.kind !== 'module' || to.kind !== 'module' || from.module === to.module)
  if (relative && !same) {
    const alias =
      to.kind === 'contracts' ? '@switchyard/contracts' : to.kind === 'module' ? '#modules/…' : '#platform/…'
    return [report('import-form', `${item.specifier} crosses a layer by a relative path`, `Write it as ${alias}.`)]
  }
  if (!relative && same && from.kind === 'module') {
    return [report('import-form', `${item.specifier} is this same module`, 'Inside a module, import by relative path.')]
  }
  return []
}

function packageFindings(path: string, from: Zone, item: Import, layers: Layers, report: Report): Finding[] {
  const name = item.specifier
  if (from.kind === 'outside' || from.kind === 'harness') return []
  if (from.kind === 'contracts') {
    if (isTest(path) || name === 'zod' || name.startsWith('zod/')) return []
    return [
      report('contracts', `contracts may import only zod, not ${name}`, 'Move this code to platform or a module.'),
    ]
  }
  return Object.entries(layers.packageHomes).flatMap(([owned, home]) => {
    const hit = owned.endsWith('/') ? name.startsWith(owned) : name === owned || name.startsWith(`${owned}/`)
    if (!hit || path.startsWith(home)) return []
    return [report('package-home', `${name} may be imported only under ${home}`, `Use what ${home} exports instead.`)]
  })
}

/** Packages that compute and do nothing else. Anything not listed is taken to reach outside. */
const PURE_PACKAGES =
  /^(?:node:(?:assert|buffer|crypto|path|querystring|string_decoder|url|util)(?:\/.*)?|zod(?:\/.*)?)$/
/** The folders of a module that do I/O or know of those that do. */
const ACTING_FOLDERS =
  /^server\/src\/modules\/[^/]+\/(?:store|routes|handlers|steps|gateway|module\.ts|index\.ts)(?:\/|$)/

function purityFinding(path: string, item: Import, target: string | null, layers: Layers, report: Report): Finding[] {
  const pure = path.includes('/domain/') || layers.pureFolders.some((folder) => path.startsWith(folder))
  if (!pure || item.typeOnly || isTest(path) || !path.startsWith('server/src/')) return []
  const fix = 'Pass the value or the function in; let the route, step or store do the I/O.'
  const refused = report(
    'pure-domain',
    `${path.includes('/domain/') ? 'domain/' : 'std'} does no I/O, but imports ${item.specifier}`,
    fix,
  )
  if (target === null) return PURE_PACKAGES.test(item.specifier) ? [] : [refused]
  if (target.startsWith('server/src/platform/')) {
    return layers.pureFolders.some((folder) => target.startsWith(folder)) ? [] : [refused]
  }
  return ACTING_FOLDERS.test(target) ? [refused] : []
}
