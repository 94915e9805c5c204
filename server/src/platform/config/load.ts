import { settings, type SettingName, type Settings } from './settings.ts'

/** Written to dev.env for clients and scripts; not settings of the server. */
const forClients = new Set([
  'SWITCHYARD_ADMIN_KEY',
  'SWITCHYARD_ADS_BASE_URL',
  'SWITCHYARD_ADS_KEY',
  'SWITCHYARD_ADS_CAMPAIGN_ID',
  'SWITCHYARD_TLS_BASE_URL',
  'SWITCHYARD_DASHBOARD_URL',
  'SWITCHYARD_PROJECT_ID',
  'SWITCHYARD_REALTIME_WS_URL',
  'SWITCHYARD_SIP_URI',
])
const otherPrefixes = ['SWITCHYARD_DEV_', 'SWITCHYARD_TEST_']

/** Startup stops with every problem at once, each saying what to do. */
export class SettingsRefused extends Error {
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(`The settings cannot be used:\n${problems.map((problem) => `  - ${problem}`).join('\n')}`)
    this.name = 'SettingsRefused'
    this.problems = problems
  }
}

const camel = (name: string) =>
  name
    .replace(/^SWITCHYARD_/, '')
    .toLowerCase()
    .replaceAll(/_([a-z0-9])/g, (_all, letter: string) => letter.toUpperCase())

/** A misspelt name is a few edits away from the one that was meant; with more, a guess would only mislead. */
const editsMax = 4

function nearest(name: string): string {
  const [best] = Object.keys(settings)
    .map((other) => ({ other, edits: editsBetween(name, other) }))
    .toSorted((a, b) => a.edits - b.edits)
  return best === undefined || best.edits > editsMax ? '' : ` Did you mean ${best.other}?`
}

/** How many letters must be added, removed or changed to make one text the other. */
function editsBetween(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, at) => at)
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i]
    for (let j = 1; j <= b.length; j += 1) {
      const changed = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      next.push(Math.min(changed, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}

export function loadSettings(environment: Readonly<Record<string, string | undefined>>): Settings {
  const problems: string[] = []
  for (const name of Object.keys(environment)) {
    if (!name.startsWith('SWITCHYARD_') || name in settings || forClients.has(name)) continue
    if (otherPrefixes.some((prefix) => name.startsWith(prefix))) continue
    problems.push(`${name} is not a setting.${nearest(name)}`)
  }
  const loaded: Record<string, unknown> = {}
  for (const [name, setting] of Object.entries(settings)) {
    const given = environment[name]
    const parsed = setting.schema.safeParse(given === '' ? undefined : given)
    if (parsed.success) loaded[camel(name)] = parsed.data
    else problems.push(`${name}: ${parsed.error.issues[0]?.message ?? 'invalid'} (${setting.description})`)
  }
  if (problems.length > 0) throw new SettingsRefused(problems)
  return loaded as unknown as Settings
}

/** A setting that a role cannot do without. */
export function required<Key extends keyof Settings>(
  from: Settings,
  ...keys: Key[]
): { [K in Key]: NonNullable<Settings[K]> } {
  const missing = keys.filter((key) => from[key] === null)
  if (missing.length > 0) {
    const names = (Object.keys(settings) as SettingName[]).filter((name) => (missing as string[]).includes(camel(name)))
    throw new SettingsRefused(names.map((name) => `${name} is required: ${settings[name].description}`))
  }
  return from as never
}
