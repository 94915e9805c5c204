import { z } from 'zod'
import { ItemText, MessagePart, OutputText, ReasoningText, Refusal, SummaryText, ToolOutputPart } from './parts.ts'

const partsMax = 2_048
const commandsMax = 256
const entriesMax = 1_024

export const ItemStatus = z.enum(['in_progress', 'completed', 'incomplete'])
const Phase = z.enum(['commentary', 'final_answer'])
const Caller = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('direct') }),
  z.strictObject({ type: z.literal('program'), caller_id: ItemText }),
])

/** Fields that every tool item may carry. */
const common = {
  id: ItemText.nullish(),
  status: ItemStatus.nullish(),
  caller: Caller.nullish(),
  created_by: z.string().optional(),
}

/** A message of any of the wire's three shapes: short form, input, or output sent back. */
export const InputMessage = z.strictObject({
  type: z.literal('message').optional(),
  id: ItemText.nullish(),
  role: z.enum(['user', 'assistant', 'system', 'developer']),
  content: z.union([z.string(), z.array(MessagePart).max(partsMax)]),
  status: ItemStatus.nullish(),
  phase: Phase.nullish(),
})

export const FunctionCall = z.strictObject({
  type: z.literal('function_call'),
  ...common,
  call_id: ItemText,
  name: ItemText,
  arguments: z.string(),
  namespace: z.string().nullish(),
  async: z.boolean().optional(),
})

const ToolOutput = z.union([z.string(), z.array(ToolOutputPart).max(partsMax)])

export const FunctionCallOutput = z.strictObject({
  type: z.literal('function_call_output'),
  ...common,
  call_id: ItemText,
  output: ToolOutput,
  name: z.string().nullish(),
  namespace: z.string().nullish(),
})

export const CustomToolCall = z.strictObject({
  type: z.literal('custom_tool_call'),
  ...common,
  call_id: ItemText,
  name: ItemText,
  input: z.string(),
  namespace: z.string().nullish(),
  async: z.boolean().optional(),
})

export const CustomToolCallOutput = z.strictObject({
  type: z.literal('custom_tool_call_output'),
  ...common,
  call_id: ItemText,
  output: ToolOutput,
})

const ShellAction = z.strictObject({
  commands: z.array(z.string()).max(commandsMax),
  timeout_ms: z.int().nullish(),
  max_output_length: z.int().min(0).nullish(),
})

const ShellPlace = z.discriminatedUnion('type', [
  z.looseObject({ type: z.literal('local') }),
  z.strictObject({ type: z.literal('container_reference'), container_id: ItemText }),
])

export const ShellCall = z.strictObject({
  type: z.literal('shell_call'),
  ...common,
  call_id: ItemText,
  action: ShellAction,
  environment: ShellPlace.nullish(),
})

export const ShellOutcome = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('exit'), exit_code: z.int() }),
  z.strictObject({ type: z.literal('timeout') }),
])

export const ShellOutputEntry = z.strictObject({
  stdout: z.string(),
  stderr: z.string(),
  outcome: ShellOutcome,
  created_by: z.string().optional(),
})

export const ShellCallOutput = z.strictObject({
  type: z.literal('shell_call_output'),
  ...common,
  call_id: ItemText,
  max_output_length: z.int().min(0).nullish(),
  output: z.array(ShellOutputEntry).max(entriesMax),
})

export const LocalShellCall = z.strictObject({
  type: z.literal('local_shell_call'),
  id: ItemText,
  call_id: ItemText,
  status: ItemStatus,
  action: z.strictObject({
    type: z.literal('exec'),
    command: z.array(z.string()).max(entriesMax),
    env: z.record(z.string(), z.string()),
    timeout_ms: z.int().nullish(),
    user: z.string().nullish(),
    working_directory: z.string().nullish(),
  }),
})

/** It has no `call_id`: its `id` is the id of the call that it answers. */
export const LocalShellCallOutput = z.strictObject({
  type: z.literal('local_shell_call_output'),
  id: ItemText,
  output: z.string(),
  status: ItemStatus.nullish(),
})

const PatchOperation = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('create_file'), path: z.string().min(1), diff: z.string() }),
  z.strictObject({
    type: z.literal('update_file'),
    path: z.string().min(1),
    diff: z.string(),
    move_to: z.string().min(1).optional(),
  }),
  z.strictObject({ type: z.literal('delete_file'), path: z.string().min(1) }),
])

export const ApplyPatchCall = z.strictObject({
  type: z.literal('apply_patch_call'),
  ...common,
  call_id: ItemText,
  status: z.enum(['in_progress', 'completed', 'incomplete']).nullish(),
  operation: PatchOperation,
})

export const ApplyPatchCallOutput = z.strictObject({
  type: z.literal('apply_patch_call_output'),
  ...common,
  call_id: ItemText,
  status: z.enum(['completed', 'failed']),
  output: z.string().nullish(),
})

export const Reasoning = z.strictObject({
  type: z.literal('reasoning'),
  id: ItemText.nullish(),
  summary: z.array(SummaryText).max(partsMax),
  content: z.array(ReasoningText).max(partsMax).optional(),
  encrypted_content: z.string().nullish(),
  status: ItemStatus.nullish(),
})

export const Compaction = z.strictObject({
  type: z.literal('compaction'),
  id: ItemText.nullish(),
  encrypted_content: z.string(),
  created_by: z.string().optional(),
})

export const CompactionTrigger = z.strictObject({ type: z.literal('compaction_trigger'), id: ItemText.nullish() })

/** An object with only an `id` is a reference too. */
export const ItemReference = z.strictObject({ type: z.literal('item_reference').nullish(), id: ItemText })

const KnownInputItem = z.discriminatedUnion('type', [
  InputMessage,
  FunctionCall,
  FunctionCallOutput,
  CustomToolCall,
  CustomToolCallOutput,
  ShellCall,
  ShellCallOutput,
  LocalShellCall,
  LocalShellCallOutput,
  ApplyPatchCall,
  ApplyPatchCallOutput,
  Reasoning,
  Compaction,
  CompactionTrigger,
])

export const InputItem = z.union([KnownInputItem, ItemReference])
export type InputItem = z.infer<typeof InputItem>
export type ItemReference = z.infer<typeof ItemReference>
export type KnownInputItem = z.infer<typeof KnownInputItem>

const withId = { id: z.string().min(1) }

/** A message as we keep and show it. */
export const Message = z.strictObject({
  type: z.literal('message'),
  ...withId,
  role: z.enum(['user', 'assistant', 'system', 'developer']),
  status: ItemStatus,
  content: z.array(MessagePart),
  phase: Phase.nullish(),
})

export const OutputMessage = z.strictObject({
  type: z.literal('message'),
  ...withId,
  role: z.literal('assistant'),
  status: ItemStatus,
  content: z.array(z.discriminatedUnion('type', [OutputText, Refusal])),
  phase: Phase.nullish(),
})

const kept = [
  FunctionCall.extend(withId),
  FunctionCallOutput.extend(withId),
  CustomToolCall.extend(withId),
  CustomToolCallOutput.extend(withId),
  ShellCall.extend(withId),
  ShellCallOutput.extend(withId),
  LocalShellCall,
  LocalShellCallOutput,
  ApplyPatchCall.extend(withId),
  ApplyPatchCallOutput.extend(withId),
  Reasoning.extend(withId),
  Compaction.extend(withId),
] as const

/** An item as it is stored and listed: always with an id, messages always with parts. */
export const StoredItem = z.discriminatedUnion('type', [Message, ...kept])
/** An item of a response's `output`. */
export const OutputItem = z.discriminatedUnion('type', [OutputMessage, ...kept])

export type StoredItem = z.infer<typeof StoredItem>
export type OutputItem = z.infer<typeof OutputItem>
export type Message = z.infer<typeof Message>
export type OutputMessage = z.infer<typeof OutputMessage>
export type ShellOutputEntry = z.infer<typeof ShellOutputEntry>
export type ItemStatus = z.infer<typeof ItemStatus>
