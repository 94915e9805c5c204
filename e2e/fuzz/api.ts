import { readFileSync } from 'node:fs'

/** The part of a JSON schema that our OpenAPI file uses. */
export interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
  readonly items?: Schema
  readonly minimum?: number
  readonly maximum?: number
  readonly minLength?: number
  readonly maxLength?: number
  readonly minItems?: number
  readonly maxItems?: number
  readonly pattern?: string
  readonly format?: string
  readonly examples?: readonly unknown[]
}

export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly schema: Schema
}

export interface FuzzOperation {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly auth: 'project_key' | 'admin_key' | 'ads_key'
  readonly parameters: readonly Parameter[]
  readonly json: Schema | null
  readonly multipart: Schema | null
}

interface Described {
  operationId: string
  security: Record<FuzzOperation['auth'], string[]>[]
  parameters?: Parameter[]
  requestBody?: { content: Record<string, { schema: Schema }> }
}

interface Document {
  paths: Record<string, Record<string, Described>>
}

/** Every operation of an OpenAPI document. */
export function readOperations(file: URL): FuzzOperation[] {
  const { paths } = JSON.parse(readFileSync(file, 'utf8')) as Document
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, described]) => ({
      id: described.operationId,
      method: method.toUpperCase(),
      path,
      auth: Object.keys(described.security[0] ?? {})[0] as FuzzOperation['auth'],
      parameters: described.parameters ?? [],
      json: described.requestBody?.content['application/json']?.schema ?? null,
      multipart: described.requestBody?.content['multipart/form-data']?.schema ?? null,
    })),
  )
}
