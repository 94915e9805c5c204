import type { Logprob } from '@switchyard/contracts/responses/parts.ts'
import type { StoredItem } from '@switchyard/contracts/responses/items.ts'
import type { TextFormat } from '@switchyard/contracts/responses/request.ts'
import type { Usage } from '@switchyard/contracts/responses/response.ts'
import type { Tool } from '@switchyard/contracts/responses/tools.ts'

/** What one model call is asked: the whole context, oldest item first. */
export interface TurnRequest {
  /** A name from the catalogue, alias or snapshot. */
  readonly model: string
  readonly instructions: string | null
  /** Images and files are already data URLs or public addresses: no `file_id`s and no references are left. */
  readonly items: readonly StoredItem[]
  readonly tools: readonly Tool[]
  readonly toolChoice: TurnToolChoice
  readonly parallelToolCalls: boolean
  readonly maxOutputTokens: number | null
  readonly temperature: number | null
  readonly topP: number | null
  /** Null: no logprobs are wanted. */
  readonly topLogprobs: number | null
  readonly stop?: readonly string[]
  /** Only for the chat-completions wire; no other has them. */
  readonly sampling?: {
    readonly seed?: number
    readonly frequency_penalty?: number
    readonly presence_penalty?: number
  }
  readonly format: TextFormat
  readonly verbosity: 'low' | 'medium' | 'high' | null
  readonly reasoning: { readonly effort: string | null; readonly summary: string | null }
  /** Whether reasoning is wanted back in a form that can be sent again without being stored. */
  readonly encryptedReasoning: boolean
  /** False: the provider is asked for the whole answer at once, and it comes as a few parts. */
  readonly stream: boolean
}

/** Names refer to `tools`; a shell is named by its kind. */
export type TurnToolChoice =
  | { readonly mode: 'auto' | 'none' | 'required' }
  | { readonly mode: 'tool'; readonly tool: ToolRef }

export type ToolRef =
  | { readonly type: 'function' | 'custom'; readonly name: string }
  | { readonly type: 'shell' | 'apply_patch' | 'local_shell' }

/**
 * What a model says, in order. Blocks do not overlap except tool calls, which are told apart by `key`. Tool parts speak of
 * the tool that was declared, whatever the provider was told about it.
 */
export type TurnPart =
  | { readonly type: 'text'; readonly delta: string; readonly logprobs?: readonly Logprob[] }
  | { readonly type: 'refusal'; readonly delta: string }
  | { readonly type: 'reasoning'; readonly kind: 'summary' | 'text'; readonly delta: string }
  /** A further paragraph of the summary begins. */
  | { readonly type: 'reasoning-break' }
  /** The reasoning so far is one item; `encrypted` is the provider's own sealed form of it. */
  | { readonly type: 'reasoning-end'; readonly encrypted: string | null }
  | { readonly type: 'tool-start'; readonly key: string; readonly tool: ToolRef }
  /** For functions: JSON text of the arguments. For custom tools: text of the input. Absent for the other tools. */
  | { readonly type: 'tool-delta'; readonly key: string; readonly delta: string }
  | { readonly type: 'tool-end'; readonly key: string; readonly call: ToolCall }
  | { readonly type: 'finish'; readonly reason: FinishReason; readonly usage: Usage; readonly model: string | null }

export type FinishReason = 'stop' | 'length' | 'content_filter'

export type ToolCall =
  | { readonly type: 'function'; readonly name: string; readonly arguments: string }
  | { readonly type: 'custom'; readonly name: string; readonly input: string }
  | {
      readonly type: 'shell'
      readonly commands: readonly string[]
      readonly timeoutMs: number | null
      readonly maxOutputLength: number | null
    }
  | { readonly type: 'apply_patch'; readonly operation: PatchOperation }
  | {
      readonly type: 'local_shell'
      readonly command: readonly string[]
      readonly env: Readonly<Record<string, string>>
      readonly timeoutMs: number | null
      readonly user: string | null
      readonly workingDirectory: string | null
    }

export type PatchOperation =
  | { readonly type: 'create_file'; readonly path: string; readonly diff: string }
  | { readonly type: 'update_file'; readonly path: string; readonly diff: string }
  | { readonly type: 'delete_file'; readonly path: string }
