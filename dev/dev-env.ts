import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Stack } from './stack.ts'

/** What every script, test and shell needs to talk to this stack. */
export function devEnv(stack: Stack): Record<string, string> {
  const { seeded } = stack
  return {
    OPENAI_BASE_URL: `http://127.0.0.1:${stack.httpPort}/v1`,
    OPENAI_API_KEY: seeded.projectKey,
    SWITCHYARD_ADMIN_KEY: seeded.adminKey,
    SWITCHYARD_ADS_BASE_URL: `http://127.0.0.1:${stack.httpPort}/ads/v1`,
    SWITCHYARD_ADS_KEY: seeded.adsKey,
    SWITCHYARD_TLS_BASE_URL: `https://127.0.0.1:${stack.tlsPort}/v1`,
    NODE_EXTRA_CA_CERTS: stack.tls.ca,
    SWITCHYARD_DASHBOARD_URL: `http://127.0.0.1:${stack.httpPort}`,
    SWITCHYARD_PROJECT_ID: seeded.projectId,
  }
}

export function writeDevEnv(dataDir: string, stack: Stack): string {
  const file = join(dataDir, 'dev.env')
  const lines = Object.entries(devEnv(stack)).map(([name, value]) => `${name}=${value}\n`)
  // Scripts wait for the file and read it at once: it appears whole.
  const draft = `${file}.draft`
  writeFileSync(draft, lines.join(''), { mode: 0o600 })
  renameSync(draft, file)
  return file
}
