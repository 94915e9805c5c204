import { loadSettings } from './load.ts'
import type { Settings } from './settings.ts'

/** The only place that reads the environment. */
export function settingsFromEnvironment(overrides: Readonly<Record<string, string>> = {}): Settings {
  return loadSettings({ ...process.env, ...overrides })
}

/** A variable that a file of the operator's names, such as the one that holds a provider's key. */
export function environmentVariable(name: string): string | undefined {
  return process.env[name]
}
