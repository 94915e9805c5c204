import { z } from 'zod'
import { containerFilesMax, containerSkillsMax, MemoryLimit, RequestNetworkPolicy, SkillEntry } from '../containers.ts'
import { ItemText } from './parts.ts'

const toolNameMax = 64
const descriptionMax = 65_536
const entriesMax = 100

export const ToolName = z
  .string()
  .min(1)
  .max(toolNameMax)
  .regex(/^[A-Za-z0-9_-]+$/, 'letters, digits, _ and - only')

const JsonSchema = z.record(z.string(), z.unknown())
const allowed_callers = z.array(z.enum(['direct', 'programmatic'])).nullish()

export const FunctionTool = z.strictObject({
  type: z.literal('function'),
  name: ToolName,
  description: z.string().max(descriptionMax).nullish(),
  parameters: JsonSchema.nullish(),
  strict: z.boolean().nullish(),
  output_schema: JsonSchema.nullish(),
  allowed_callers,
})

export const CustomTool = z.strictObject({
  type: z.literal('custom'),
  name: ToolName,
  description: z.string().max(descriptionMax).optional(),
  format: z
    .discriminatedUnion('type', [
      z.strictObject({ type: z.literal('text') }),
      z.strictObject({ type: z.literal('grammar'), syntax: z.enum(['lark', 'regex']), definition: z.string() }),
    ])
    .optional(),
  allowed_callers,
})

const LocalSkill = z.strictObject({
  name: z.string().min(1).max(256),
  description: z.string().max(descriptionMax),
  path: z.string().min(1).max(4_096),
})

export const ShellEnvironment = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('container_auto'),
    file_ids: z.array(ItemText).max(containerFilesMax).optional(),
    memory_limit: MemoryLimit.nullish(),
    network_policy: RequestNetworkPolicy.optional(),
    skills: z.array(SkillEntry).max(containerSkillsMax).optional(),
  }),
  z.strictObject({ type: z.literal('container_reference'), container_id: ItemText }),
  z.strictObject({ type: z.literal('local'), skills: z.array(LocalSkill).max(entriesMax).optional() }),
])

export const ShellTool = z.strictObject({
  type: z.literal('shell'),
  /** Absent means local, as the agents package means it. */
  environment: ShellEnvironment.nullish(),
  allowed_callers,
})

export const ApplyPatchTool = z.strictObject({ type: z.literal('apply_patch'), allowed_callers })
export const LocalShellTool = z.strictObject({ type: z.literal('local_shell') })

/** Tools of the API that exist elsewhere. */
const unsupportedToolTypes = [
  'code_interpreter',
  'file_search',
  'web_search',
  'web_search_2025_08_26',
  'web_search_preview',
  'web_search_preview_2025_03_11',
  'mcp',
  'image_generation',
  'computer',
  'computer_use_preview',
  'tool_search',
  'namespace',
  'programmatic_tool_calling',
] as const

/** Refused by name rather than as a value that nobody knows. */
const UnsupportedTool = z
  .looseObject({ type: z.enum(unsupportedToolTypes) })
  .transform(({ type }, { addIssue }): never => {
    const message = `this server does not offer the ${type} tool`
    addIssue({ code: 'custom', params: { fault: 'unsupported_tool' }, path: ['type'], message, input: type })
    return z.NEVER
  })

/** The tools that this server carries out or hands to the client. */
export const Tool = z.discriminatedUnion('type', [
  FunctionTool,
  CustomTool,
  ShellTool,
  ApplyPatchTool,
  LocalShellTool,
  UnsupportedTool,
])
export type Tool = z.infer<typeof Tool>
export type FunctionTool = z.infer<typeof FunctionTool>
export type CustomTool = z.infer<typeof CustomTool>
export type ShellTool = z.infer<typeof ShellTool>

const namedTool = z.strictObject({ type: z.enum(['function', 'custom']), name: ToolName })
const kindOfTool = z.strictObject({ type: z.enum(['shell', 'apply_patch', 'local_shell']) })

export const ToolChoice = z.union([
  z.enum(['none', 'auto', 'required']),
  namedTool,
  kindOfTool,
  z.strictObject({
    type: z.literal('allowed_tools'),
    mode: z.enum(['auto', 'required']),
    tools: z
      .array(z.union([namedTool, kindOfTool]))
      .min(1)
      .max(entriesMax),
  }),
])
export type ToolChoice = z.infer<typeof ToolChoice>
