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

/** Names one edit away are the likely meaning of a misspelt one. */
function nearest(name: string): string {
  const parts = name.split('_')
  const score = (other: string) => other.split('_').filter((part) => parts.includes(part)).length
  const best = Object.keys(settings).toSorted((a, b) => score(b) - score(a))[0]
  return best === undefined ? '' : ` Did you mean ${best}?`
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
