import { readFileSync } from 'node:fs'
import { parseEnv } from 'node:util'
import { environmentVariable } from '#platform/config/environment.ts'
import { UsageError } from '../command.ts'

export interface ServerAddress {
  /** Without a slash at the end. */
  readonly baseUrl: string
  readonly apiKey: string
}

const devEnvFile = '.data/dev.env'

function readText(file: string): string | null {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return null
  }
}

function urlOf(text: string): string {
  const url = URL.parse(text)
  if (url !== null && url.username + url.password !== '') {
    throw new UsageError('The base URL must hold no name and no password: give a key, in OPENAI_API_KEY.')
  }
  if (url === null || !/^https?:$/.test(url.protocol) || url.search + url.hash !== '') {
    throw new UsageError(`${JSON.stringify(text)} is no base URL; one looks like http://127.0.0.1:8080/v1.`)
  }
  return url.href.replace(/\/+$/, '')
}

/** Where the API is and with which key. What `npm run dev` wrote is used as a whole: a key of one server is not shown to another. */
export function findServer(given: { baseUrl?: string | undefined; apiKeyFile?: string | undefined }): ServerAddress {
  const baseUrl = given.baseUrl ?? environmentVariable('OPENAI_BASE_URL')
  const dev = baseUrl === undefined ? parseEnv(readText(devEnvFile) ?? '') : {}
  const url = baseUrl ?? dev['OPENAI_BASE_URL']
  if (url === undefined) {
    throw new UsageError(
      `Say where the server is: --base-url or OPENAI_BASE_URL. (There is no ${devEnvFile} here, which npm run dev writes.)`,
    )
  }
  const apiKey = keyFrom(given.apiKeyFile) ?? (baseUrl === undefined ? dev : keyOfEnvironment())['OPENAI_API_KEY']
  if (apiKey === undefined || apiKey === '') {
    throw new UsageError('Give the key of a project: OPENAI_API_KEY, or --api-key-file with a file that holds it.')
  }
  if (!/^[\u0021-\u007e]+$/.test(apiKey)) {
    const where = given.apiKeyFile ?? 'OPENAI_API_KEY'
    throw new UsageError(`${where} must hold one key and nothing else: no name before it, no space, no second line.`)
  }
  return { baseUrl: urlOf(url), apiKey }
}

const keyOfEnvironment = () => ({ OPENAI_API_KEY: environmentVariable('OPENAI_API_KEY') })

function keyFrom(file: string | undefined): string | undefined {
  if (file === undefined) return undefined
  const text = readText(file)
  if (text === null) throw new UsageError(`--api-key-file: ${file} cannot be read.`)
  return text.trim()
}
