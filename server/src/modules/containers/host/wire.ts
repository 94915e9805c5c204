import type { MeshFailure } from '#platform/mesh/listener.ts'
import type { BoxOrder } from '../domain/order.ts'
import type { GivenSecret } from '../egress/secrets.ts'
import type { CommandResult } from './ledger.ts'

/** What the processes of a deployment ask of a host, by the name of the command. */
export interface ExecuteInput {
  readonly order: BoxOrder
  readonly responseId: string
  readonly callId: string
  readonly commands: readonly string[]
  readonly timeoutMs: number
}

export type ExecuteEvent =
  | { readonly kind: 'output'; readonly index: number; readonly stdout?: string; readonly stderr?: string }
  | { readonly kind: 'result'; readonly index: number; readonly result: CommandResult }
  | { readonly kind: 'end' }
  /** A stream that has begun can carry a refusal only like this. */
  | { readonly kind: 'failure'; readonly failure: MeshFailure }

export interface HostFile {
  /** Below /mnt/data. */
  readonly path: string
  readonly bytes: number
  readonly modifiedMs: number
  readonly source: 'user' | 'assistant'
}

export interface FileInput {
  readonly order: BoxOrder
  readonly path: string
}

export interface WriteInput {
  readonly order: BoxOrder
  /** Empty: that of the file which is copied. */
  readonly filename: string
  /** Copied from the project's files; null: the bytes come along. */
  readonly fileId: string | null
}

export interface CancelInput {
  readonly containerId: string
  readonly responseId: string
}

export interface ParkInput {
  readonly containerId: string
  readonly secrets: readonly GivenSecret[]
}

export const hostCommands = {
  execute: 'containers.execute',
  cancel: 'containers.cancel',
  listFiles: 'containers.list-files',
  readFile: 'containers.read-file',
  writeFile: 'containers.write-file',
  deleteFile: 'containers.delete-file',
  /** Deletes what the records say is over, now rather than within a second. */
  clear: 'containers.clear',
  park: 'containers.park-secrets',
} as const
