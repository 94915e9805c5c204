import { customIdMax, type BatchEndpoint, type BatchError } from '@switchyard/contracts/batches.ts'
import { hash } from 'node:crypto'
import { isStorable } from '#platform/std/storable-text.ts'
import type { RawLine } from '#platform/std/split-lines.ts'

/** What a line asks for, found to be in order as far as that can be told without running it. */
export interface CheckedLine {
  readonly customId: string
  readonly body: Record<string, unknown>
  /** Snapshot of the catalogue. */
  readonly model: string
}

/** What a batch has shown so far. */
export interface LinesSeen {
  /** Digests, which take the same little room for long names. */
  readonly customIds: Set<string>
  model: string | null
}

export interface CheckUses {
  readonly endpoint: BatchEndpoint
  readonly findModel: (name: string) => { readonly id: string } | null
}

type Complaint = Omit<BatchError, 'line'>

const complaint = (code: string, message: string, param: string | null = null): Complaint => ({ code, message, param })

const text = new TextDecoder('utf-8', { fatal: true })
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The JSON object of a line, or null. */
export function parseLine(content: Buffer): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text.decode(content))
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

/** Reads one line; what is wrong with it is an error of the batch. */
export function checkLine(use: CheckUses, seen: LinesSeen, raw: RawLine): CheckedLine | BatchError {
  const checked = check(use, seen, raw)
  return 'code' in checked ? { ...checked, line: raw.n } : checked
}

function check(use: CheckUses, seen: LinesSeen, { content }: RawLine): CheckedLine | Complaint {
  if (content === null) return complaint('line_too_long', 'This line is longer than a request may be.')
  const line = parseLine(content)
  if (line === null) return complaint('invalid_json_line', 'This line is not one JSON object in UTF-8.')
  const { custom_id: customId, method, url, body } = line
  if (typeof customId !== 'string' || customId === '') {
    return complaint('missing_required_parameter', 'Every line has a custom_id, a string.', 'custom_id')
  }
  if (customId.length > customIdMax || !isStorable(customId)) {
    return complaint('invalid_custom_id', `A custom_id has at most ${customIdMax} characters of text.`, 'custom_id')
  }
  if (method !== 'POST') return complaint('invalid_method', 'The method of every line is POST.', 'method')
  if (url !== use.endpoint) {
    return complaint('invalid_url', `The url of every line is the endpoint of the batch, ${use.endpoint}.`, 'url')
  }
  if (!isObject(body)) return complaint('missing_required_parameter', 'Every line has a body, an object.', 'body')
  const refused = checkBody(body)
  if (refused !== null) return refused
  const model = checkModel(use, seen, body)
  if (typeof model !== 'string') return model
  const digest = hash('sha256', customId, 'base64url')
  if (seen.customIds.has(digest)) {
    return complaint('duplicate_custom_id', 'An earlier line has the same custom_id.', 'custom_id')
  }
  seen.customIds.add(digest)
  return { customId, body, model }
}

function checkBody(body: Record<string, unknown>): Complaint | null {
  for (const name of ['stream', 'background'] as const) {
    if (body[name] === true) {
      return complaint('unsupported_value', `A line of a batch cannot have ${name}: true.`, `body.${name}`)
    }
  }
  if (body['conversation'] !== undefined && body['conversation'] !== null) {
    const message = 'Lines of a batch run in no order, so none of them can be part of a conversation.'
    return complaint('unsupported_value', message, 'body.conversation')
  }
  return null
}

function checkModel(use: CheckUses, seen: LinesSeen, { model: name }: Record<string, unknown>): string | Complaint {
  if (typeof name !== 'string') {
    return complaint('missing_required_parameter', 'The body of every line names a model.', 'body.model')
  }
  const model = use.findModel(name)
  if (model === null) {
    return complaint('model_not_found', `There is no model '${name.slice(0, customIdMax)}'.`, 'body.model')
  }
  seen.model ??= model.id
  if (seen.model === model.id) return model.id
  return complaint('mismatched_model', `A batch is for one model; this one began with ${seen.model}.`, 'body.model')
}
