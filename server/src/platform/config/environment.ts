import { loadSettings } from './load.ts'
import type { Settings } from './settings.ts'

/** The only place that reads the environment. */
export function settingsFromEnvironment(overrides: Readonly<Record<string, string>> = {}): Settings {
  return loadSettings({ ...process.env, ...overrides })
}
