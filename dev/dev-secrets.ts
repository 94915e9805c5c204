import { randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePort } from './engines/free-port.ts'

/** What must stay the same from one start to the next: the engine remembers addresses, sealed values their key. */
export interface DevSecrets {
  readonly sealKeys: string
  readonly workerPort: number
  readonly restatePorts: { ingress: number; admin: number; fabric: number }
}

const sealKeyBytes = 32

export async function keepDevSecrets(dataDir: string): Promise<DevSecrets> {
  const file = join(dataDir, 'dev-secrets.json')
  if (existsSync(file)) return JSON.parse(readFileSync(file, 'utf8')) as DevSecrets
  const made: DevSecrets = {
    sealKeys: `dev:${randomBytes(sealKeyBytes).toString('base64')}`,
    workerPort: await freePort(),
    restatePorts: { ingress: await freePort(), admin: await freePort(), fabric: await freePort() },
  }
  writeFileSync(file, `${JSON.stringify(made, null, 2)}\n`, { mode: 0o600 })
  return made
}
