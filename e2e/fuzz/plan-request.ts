import type { FuzzOperation, Parameter } from './api.ts'
import type { Chance } from './chance.ts'
import { jsonText } from './json-text.ts'
import type { ReadyUpload, ReadyUploads } from './feed.ts'
import type { KnownIds } from './known-ids.ts'
import { flipped, multipartOf } from './multipart-body.ts'
import { mutateJson } from './mutate-json.ts'
import { oddText } from './odd-values.ts'
import type { Plan } from './plan.ts'
import { mutateHeaders } from './mutate-headers.ts'
import { mutatePath, mutateQuery } from './mutate-target.ts'
import { valueOf } from './schema-value.ts'

export interface Keys {
  readonly project_key: string
  readonly admin_key: string
  readonly ads_key: string
  /** Keys that open nothing any more, or not enough. */
  readonly weak: readonly string[]
}

export interface PlanUse {
  readonly ids: KnownIds
  readonly keys: Keys
  readonly projectId: string
  readonly uploads: ReadyUploads
  /** Models that answer. */
  readonly models: readonly string[]
}

type Spoilt = 'nothing' | 'path' | 'query' | 'body' | 'headers' | 'key' | 'method'
const spoils: readonly Spoilt[] = ['path', 'query', 'body', 'body', 'body', 'headers', 'key', 'method']
const methods = ['GET', 'POST', 'DELETE', 'PUT', 'PATCH', 'HEAD', 'OPTIONS', 'TRACE']

/** Operations that would end the project the run stands on. */
const endsProject = /projects\.(archive|update)$/
const sharePristine = 0.3

/** A request to an operation: as it should be, or with one to three things wrong. */
export function planRequest(operation: FuzzOperation, chance: Chance, use: PlanUse): Plan {
  const spoilt = new Set<Spoilt>()
  if (!chance.often(sharePristine)) {
    for (let count = chance.pick([1, 1, 1, 2, 3]); count > 0; count -= 1) spoilt.add(chance.pick(spoils))
  }
  const ready = readyFor(operation, chance, use)
  const path = pathOf(operation, chance, use, ready)
  const query = queryOf(operation, chance, use)
  const target = `${spoilt.has('path') ? mutatePath(path, chance) : path}${spoilt.has('query') ? mutateQuery(query, chance) : query}`
  const { contentType, body } = bodyOf(operation, chance, use, spoilt.has('body'), ready)
  const method = spoilt.has('method') ? chance.pick(methods) : operation.method
  const headers: [string, string][] = [
    ['host', '127.0.0.1'],
    ['authorization', spoilt.has('key') ? oddKey(chance, use.keys) : `Bearer ${use.keys[operation.auth]}`],
    ...(contentType === null ? [] : ([['content-type', contentType]] as [string, string][])),
    ...(operation.parameters.some((parameter) => parameter.in === 'header') && chance.often(0.2)
      ? ([['idempotency-key', chance.word(2)]] as [string, string][])
      : []),
    ...(operation.id === 'files.content' && chance.often(0.5)
      ? ([['range', rangeOf(chance)]] as [string, string][])
      : []),
  ]
  const framed = spoilt.has('headers') ? mutateHeaders(headers, chance) : headers
  return { operation: operation.id, method, target, ...frame(framed, body, chance), framing: 'whole' }
}

/** Only an upload that is complete can be completed; ids taken at random never fit each other. */
function readyFor({ id }: FuzzOperation, chance: Chance, { uploads }: PlanUse): ReadyUpload | null {
  return id === 'uploads.complete' && uploads.all.length > 0 && chance.often(0.5) ? chance.pick(uploads.all) : null
}

/** Content-Length, or in chunks. */
function frame(headers: [string, string][], body: Buffer, chance: Chance): Pick<Plan, 'headers' | 'body'> {
  if (body.length === 0 && chance.often(0.9)) return { headers, body }
  if (chance.often(0.9)) return { headers: [...headers, ['content-length', String(body.length)]], body }
  const size = chance.pick([1, 7, 1_000, 70_000])
  const chunks: Buffer[] = []
  // Few enough for the smallest size: large bodies go in large chunks.
  const step = Math.max(size, Math.ceil(body.length / 200))
  for (let at = 0; at < body.length; at += step) {
    const chunk = body.subarray(at, at + step)
    chunks.push(Buffer.from(`${chunk.length.toString(16)}\r\n`), chunk, Buffer.from('\r\n'))
  }
  return {
    headers: [...headers, ['transfer-encoding', 'chunked']],
    body: Buffer.concat([...chunks, Buffer.from('0\r\n\r\n')]),
  }
}

function pathOf(
  { id, path, parameters }: FuzzOperation,
  chance: Chance,
  { ids, projectId }: PlanUse,
  ready: ReadyUpload | null,
): string {
  return path.replaceAll(/\{(.+?)\}/g, (_all, name: string) => {
    const schema = parameters.find((parameter) => parameter.in === 'path' && parameter.name === name)?.schema ?? {}
    if (ready !== null) return ready.uploadId
    if (name === 'project_id' && !endsProject.test(id) && chance.often(0.6)) return projectId
    return encodeURIComponent(String(valueOf(schema, chance, ids)))
  })
}

function queryOf({ parameters }: FuzzOperation, chance: Chance, { ids }: PlanUse): string {
  const optional = parameters.filter((parameter) => parameter.in === 'query')
  const chosen = optional.filter(({ required }) => required || chance.often(1 / (optional.length + 1)))
  const pairs = chosen.flatMap((parameter) => pairsOf(parameter, valueOf(parameter.schema, chance, ids)))
  return pairs.length === 0 ? '' : `?${pairs.join('&')}`
}

function pairsOf({ name }: Parameter, value: unknown): string[] {
  const pair = (key: string, one: unknown) => `${encodeURIComponent(key)}=${encodeURIComponent(String(one))}`
  if (Array.isArray(value)) return value.map((one) => pair(name, one))
  if (typeof value === 'object' && value !== null) {
    return Object.entries(value).map(([key, one]) => pair(`${name}[${key}]`, one))
  }
  return [pair(name, value)]
}

function bodyOf(
  { json, multipart }: FuzzOperation,
  chance: Chance,
  { ids, models }: PlanUse,
  spoil: boolean,
  ready: ReadyUpload | null,
): { contentType: string | null; body: Buffer } {
  if (multipart !== null) return multipartOf(multipart, chance, ids, spoil)
  const contentType = 'application/json'
  if (json === null && !spoil) return { contentType: null, body: Buffer.alloc(0) }
  const made = ready !== null ? { part_ids: ready.partIds } : json === null ? {} : valueOf(json, chance, ids)
  const value = withModel(made, chance, models)
  if (!spoil) return { contentType, body: Buffer.from(jsonText(value)) }
  const mutated = Buffer.from(jsonText(mutateJson(value, chance)))
  switch (chance.below(12)) {
    case 0:
      return { contentType, body: mutated.subarray(0, chance.below(mutated.length + 1)) }
    case 1:
      return { contentType, body: flipped(mutated, chance) }
    case 2:
      return { contentType, body: Buffer.from(oddText(chance)) }
    case 3:
      return { contentType, body: Buffer.concat([Buffer.from('\ufeff'), mutated]) }
    case 4:
      return { contentType, body: chance.often(0.05) ? Buffer.alloc(1_200_000, ' ') : Buffer.from('[]') }
    default:
      return { contentType, body: mutated }
  }
}

/** Almost every name would be unknown, and nothing behind it be reached. */
function withModel(value: unknown, chance: Chance, models: readonly string[]): unknown {
  if (value === null || typeof value !== 'object' || !('model' in value) || chance.often(0.1)) return value
  return { ...value, model: chance.pick(models) }
}

function oddKey(chance: Chance, keys: Keys): string {
  if (chance.often(0.3)) return `Bearer ${chance.pick(keys.weak)}`
  const word = oddText(chance)
    .replaceAll(/[^\u0020-\u007e]/g, '?')
    .slice(0, 2_000)
  const { project_key: project, admin_key: admin, ads_key: ads, weak } = keys
  const all = [`Bearer ${project}`, `Bearer ${admin}`, `Bearer ${ads}`, ...weak.map((key) => `Bearer ${key}`)]
  return chance.pick([
    ...all,
    `Bearer ${word}`,
    word,
    `Basic ${word}`,
    'Bearer',
    '',
    `Bearer ${project}x`,
    `bearer  ${project}`,
  ])
}

const fittingRanges = ['bytes=0-', 'bytes=0-0', 'bytes=-1', 'bytes=1-11', 'bytes=0-5']

function rangeOf(chance: Chance): string {
  if (chance.often(0.5)) return chance.pick(fittingRanges)
  const number = () => chance.pick(['', '0', '1', '5', '299', '300', '301', '99999999999999999999', '-1', 'x'])
  return chance.pick([
    `bytes=${number()}-${number()}`,
    `bytes=${number()}-${number()},${number()}-`,
    'bytes',
    'items=0-1',
  ])
}
