import { z } from 'zod'
import { faults, type FaultCode } from './errors.ts'
import { limitFaults } from './operation.ts'
import type { MultipartBody, Operation } from './operation.ts'

type Json = Record<string, unknown>

/** Faults that every operation can answer with. */
const commonFaults: readonly FaultCode[] = [
  'invalid_value',
  'invalid_api_key',
  'insufficient_permissions',
  'request_too_large',
  'internal_error',
  'server_overloaded',
]

/** Schemas with an id of their own (`.meta({ id })`) are written once and referred to. */
class Schemas {
  readonly named: Record<string, Json> = {}

  of(schema: z.ZodType, io: 'input' | 'output'): Json {
    const { $schema: _dialect, $defs, ...json } = z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as Json
    for (const [name, inner] of Object.entries(($defs as Record<string, Json> | undefined) ?? {})) {
      const { id: _id, ...rest } = inner
      this.named[name] = this.#lifted(rest)
    }
    const { id, ...rest } = this.#lifted(json)
    if (typeof id !== 'string') return rest
    this.named[id] = rest
    return { $ref: `#/components/schemas/${id}` }
  }

  #lifted(json: Json): Json {
    return JSON.parse(JSON.stringify(json).replaceAll('"#/$defs/', '"#/components/schemas/')) as Json
  }
}

function parameters(operation: Operation, schemas: Schemas): Json[] {
  const of = (schema: z.ZodType | undefined, place: 'path' | 'query'): Json[] => {
    if (schema === undefined) return []
    const { properties = {}, required = [] } = schemas.of(schema, 'input') as {
      properties?: Record<string, Json>
      required?: string[]
    }
    return Object.entries(properties).map(([name, property]) => {
      const list = property['type'] === 'array'
      const map = property['type'] === 'object'
      return {
        name: list ? `${name}[]` : name,
        in: place,
        required: place === 'path' || required.includes(name),
        ...(list ? { explode: true } : {}),
        ...(map ? { style: 'deepObject', explode: true } : {}),
        schema: property,
      }
    })
  }
  return [...of(operation.params, 'path'), ...of(operation.query, 'query')]
}

function requestBody(operation: Operation, schemas: Schemas): Json | undefined {
  if (operation.body === undefined) return undefined
  if (!('kind' in operation.body)) {
    return {
      required: operation.bodyOptional !== true,
      content: { 'application/json': { schema: schemas.of(operation.body, 'input') } },
    }
  }
  const { fields, file, json } = operation.body
  const schema = schemas.of(fields, 'input') as { properties?: Json; required?: string[] }
  const properties = {
    [file.name]: fileSchema(file),
    ...schema.properties,
  }
  const required = [file.name, ...(schema.required ?? [])]
  const multipart = { 'multipart/form-data': { schema: { ...schema, properties, required } } }
  if (json === undefined) return { required: true, content: multipart }
  return { required: true, content: { ...multipart, 'application/json': { schema: schemas.of(json, 'input') } } }
}

function fileSchema({ bytesMax, filesMax }: MultipartBody['file']): Json {
  const one = { type: 'string', format: 'binary', maxLength: bytesMax }
  return filesMax === undefined ? one : { oneOf: [{ type: 'array', items: one, maxItems: filesMax }, one] }
}

function responses(operation: Operation, schemas: Schemas): Json {
  const success =
    operation.reply === 'binary'
      ? {
          description: 'The bytes.',
          content: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } },
        }
      : { description: 'Done.', content: { 'application/json': { schema: schemas.of(operation.reply, 'output') } } }
  const byStatus = new Map<number, FaultCode[]>()
  const limited = operation.limited === undefined ? [] : limitFaults
  for (const code of new Set([...commonFaults, ...(operation.faults ?? []), ...limited])) {
    byStatus.set(faults[code].status, [...(byStatus.get(faults[code].status) ?? []), code])
  }
  const failures = [...byStatus]
    .toSorted(([a], [b]) => a - b)
    .map(([status, codes]) => [
      String(status),
      {
        description: codes.join(', '),
        content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
      },
    ])
  return { '200': success, ...Object.fromEntries(failures) }
}

function describe(operation: Operation, schemas: Schemas): Json {
  const body = requestBody(operation, schemas)
  const header = { name: 'Idempotency-Key', in: 'header', required: false, schema: { type: 'string', maxLength: 255 } }
  return {
    operationId: operation.id,
    summary: operation.summary,
    tags: [operation.path.split('/')[2] ?? ''],
    security: [{ [operation.auth]: [operation.scope] }],
    parameters: [...parameters(operation, schemas), ...(operation.creates === true ? [header] : [])],
    ...(body === undefined ? {} : { requestBody: body }),
    responses: responses(operation, schemas),
  }
}

const bearer = (description: string) => ({ type: 'http', scheme: 'bearer', description })

/** The OpenAPI document of a list of operations. */
export function openapi(operations: readonly Operation[], version: string): Json {
  const paths: Record<string, Json> = {}
  const schemas = new Schemas()
  for (const operation of operations) {
    paths[operation.path] = { ...paths[operation.path], [operation.method.toLowerCase()]: describe(operation, schemas) }
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Switchyard', version, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    servers: [{ url: 'http://127.0.0.1:8080' }],
    paths,
    components: {
      securitySchemes: {
        project_key: bearer('A project key (sk-proj-…) or a service account key (sk-svcacct-…).'),
        admin_key: bearer('An admin key of the organisation (sk-admin-…).'),
        ads_key: bearer('A key of one ad account (adsk_…).'),
      },
      schemas: { Error: errorSchema, ...schemas.named },
    },
  }
}

const errorSchema = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['message', 'type', 'param', 'code'],
      properties: {
        message: { type: 'string' },
        type: { type: 'string' },
        param: { type: ['string', 'null'] },
        code: { type: ['string', 'null'], enum: [...Object.keys(faults), null] },
      },
    },
  },
}

/** The page docs/reference/errors.md: one paragraph a code. */
export function errorsReference(): string {
  const entries = Object.entries(faults).map(
    ([code, { status, type, doc }]) => `## \`${code}\`\n\nStatus ${status}, type \`${type}\`. ${doc}\n`,
  )
  const head = [
    '# Errors',
    '',
    'Printed by `npm run openapi` from `packages/contracts/src/errors.ts`; do not edit.',
    '',
    'Every error has the body `{"error": {"message", "type", "param", "code"}}` and the header `x-request-id`. Branch on `code`:',
    'codes are never renamed or reused. `param` is the path of the field at fault, or null. Where repeating a request cannot',
    'help, `x-should-retry: false` tells the SDK so.',
    '',
  ]
  return `${head.join('\n')}\n${entries.join('\n')}`
}
