import type { BodyOf, MultipartBody, Operation, ParamsOf, QueryOf, ReplyOf } from '@switchyard/contracts/operation.ts'
import type { Readable } from 'node:stream'
import type { Tx } from '#platform/db/tx.ts'
import type { BinaryReply } from './binary-reply.ts'
import type { Passage } from './gate.ts'
import type { EventStream } from './sse.ts'
import type { Scope, ScopeOf } from './principal.ts'

export interface RequestFacts {
  readonly id: string
  /** Aborts when the client is gone. */
  readonly signal: AbortSignal
  header(name: string): string | undefined
}

/** What a route receives: input already parsed, caller already authenticated. */
export interface RouteContext<O extends Operation> {
  readonly scope: ScopeOf<O['auth']>
  readonly params: ParamsOf<O>
  readonly query: QueryOf<O>
  readonly body: BodyOf<O>
  readonly request: RequestFacts
  /** What a limited operation was let in with. */
  readonly passage: Passage | null
  /**
   * The transaction of a create. Its result is the reply, and is kept under the caller's Idempotency-Key
   * in the same transaction: neither exists without the other.
   */
  commit<Reply>(decide: (tx: Tx) => Promise<Reply>): Promise<Reply>
}

export type RouteReply<O> = O extends { reply: 'binary' } ? BinaryReply : ReplyOf<O> | EventStream

export interface IncomingFile {
  readonly filename: string
  readonly mimeType: string
  readonly stream: Readable
}

/** Takes the streamed part before the fields after it are known; what it returns is handed on as `file`. */
export interface Receiver<O extends Operation, Received extends { sha256: string }> {
  receive(file: IncomingFile, context: Pick<RouteContext<O>, 'scope' | 'params' | 'request'>): Promise<Received>
  /** Makes one of several parts, where the operation takes several (`filesMax`). */
  join?(received: readonly Received[]): Received
  /** Undoes `receive` when the request fails afterwards. */
  discard(received: Received): Promise<void>
}

/** What was read of a request before its types are known to anyone but the contract. */
export interface AnyInput {
  readonly scope: Scope
  readonly params: unknown
  readonly query: unknown
  readonly body: unknown
  readonly request: RequestFacts
  readonly passage: Passage | null
  readonly file: { sha256: string } | null
}

export interface AnyReceiver {
  receive(file: IncomingFile, context: Pick<AnyInput, 'scope' | 'params' | 'request'>): Promise<{ sha256: string }>
  join?(received: readonly { sha256: string }[]): { sha256: string }
  discard(received: { sha256: string }): Promise<void>
}

/** A route with its types erased, as the server mounts it. */
export interface Route {
  readonly operation: Operation
  readonly receiver: AnyReceiver | null
  readonly handle: (context: AnyInput & Pick<RouteContext<Operation>, 'commit'>) => Promise<unknown>
}

/** Binds an operation of the contract to what carries it out. */
export function route<O extends Operation>(
  operation: O,
  handle: (context: RouteContext<O>) => Promise<RouteReply<O>>,
): Route {
  return { operation, receiver: null, handle: handle as unknown as Route['handle'] }
}

/** Null where a JSON body came instead. */
type FileOf<O, Received> = O extends { body: { json: unknown } } ? Received | null : Received

/** The same for a multipart operation: the file part is streamed to the receiver, never held. */
export function uploadRoute<O extends Operation & { body?: MultipartBody }, Received extends { sha256: string }>(
  operation: O,
  receiver: Receiver<O, Received>,
  handle: (context: RouteContext<O> & { file: FileOf<O, Received> }) => Promise<RouteReply<O>>,
): Route {
  return {
    operation,
    receiver,
    handle: handle as unknown as Route['handle'],
  }
}
