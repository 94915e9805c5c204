import type { z } from 'zod'
import type { FaultCode } from './errors.ts'

/** Who may call. The kind of key decides which part of the API exists for the caller. */
export type Auth = 'project_key' | 'admin_key' | 'ads_key'

export type Method = 'GET' | 'POST' | 'DELETE'

/** A multipart body: text fields are validated as one object, and exactly one part is a file that is streamed. */
export interface MultipartBody<Fields extends z.ZodType = z.ZodType> {
  readonly kind: 'multipart'
  readonly fields: Fields
  /**
   * With `filesMax` up to so many parts, called `name` or `name[]`, with `bytesMax` for all of them together; their file
   * names keep their folders.
   */
  readonly file: { readonly name: string; readonly bytesMax: number; readonly filesMax?: number }
  /** A JSON body that may be sent instead; then there is no file. */
  readonly json?: z.ZodType
}

export interface Operation<
  Params extends z.ZodType = z.ZodType,
  Query extends z.ZodType = z.ZodType,
  Body extends z.ZodType | MultipartBody = z.ZodType | MultipartBody,
  Reply extends z.ZodType | 'binary' = z.ZodType | 'binary',
> {
  /** Dotted name as in the SDK: `files.create`, `admin.organization.projects.list`. */
  readonly id: string
  readonly method: Method
  /** With `{name}` parameters, including the `/v1` prefix. */
  readonly path: string
  readonly summary: string
  readonly auth: Auth
  /** The scope a restricted key needs. Unrestricted keys have all scopes of their kind. */
  readonly scope: string
  readonly params?: Params
  readonly query?: Query
  readonly body?: Body
  /** An absent body counts as `{}`. */
  readonly bodyOptional?: true
  readonly reply: Reply
  /** Faults beyond the ones every operation has (401, 403, 400 of validation, 413, 500). */
  readonly faults?: readonly FaultCode[]
  /** Has rate limits, and their faults: those of the model that the body names, or of the vector store in the path. */
  readonly limited?: 'model' | 'vector_store'
  /** Creates something: takes an `Idempotency-Key`. */
  readonly creates?: true
  /** The reply shows a secret that is shown only once: kept sealed, and for minutes only. */
  readonly showsSecret?: true
}

/** Keeps the precise types of what is declared. */
export function operation<const O extends Operation>(declared: O): O {
  return declared
}

export type AnyOperation = Operation

/** Faults that every operation with rate limits has, beside its own. */
export const limitFaults: readonly FaultCode[] = [
  'rate_limit_exceeded',
  'token_rate_limit_exceeded',
  'request_above_limit',
  'insufficient_quota',
  'region_not_allowed',
]

export type ParamsOf<O> = O extends { params: infer P } ? (P extends z.ZodType ? z.output<P> : undefined) : undefined
export type QueryOf<O> = O extends { query: infer Q } ? (Q extends z.ZodType ? z.output<Q> : undefined) : undefined
export type BodyOf<O> = O extends { body: infer B }
  ? B extends z.ZodType
    ? z.output<B>
    : B extends MultipartBody<infer Fields>
      ? z.output<Fields> | (B extends { json: infer Json extends z.ZodType } ? z.output<Json> : never)
      : undefined
  : undefined
export type ReplyOf<O> = O extends { reply: infer R } ? (R extends z.ZodType ? z.input<R> : never) : never
/** What a client gets: as `ReplyOf`, with ids branded. */
export type RepliedBy<O> = O extends { reply: infer R } ? (R extends z.ZodType ? z.output<R> : never) : never
