import type { SkillEntry } from '@switchyard/contracts/containers.ts'
import type { CreateResponse, Includable, TextFormat } from '@switchyard/contracts/responses/request.ts'
import type { Tool, ToolChoice } from '@switchyard/contracts/responses/tools.ts'
import { Fault } from '#platform/errors/fault.ts'
import type { ShellPlace } from './call-item.ts'

/** A request with its defaults filled in, as it is stored, echoed and carried out. It holds no secret. */
export interface Asked {
  readonly model: string
  readonly instructions: string | null
  readonly tools: readonly Tool[]
  readonly toolChoice: ToolChoice
  readonly parallelToolCalls: boolean
  readonly maxToolCalls: number | null
  readonly maxOutputTokens: number | null
  readonly metadata: Readonly<Record<string, string>>
  readonly temperature: number | null
  readonly topP: number | null
  /** Of work of our own alone: a request has none. */
  readonly seed?: number
  readonly topLogprobs: number
  readonly text: { readonly format: TextFormat; readonly verbosity: 'low' | 'medium' | 'high' | null }
  readonly reasoning: { readonly effort: string | null; readonly summary: string | null }
  readonly truncation: 'auto' | 'disabled'
  readonly serviceTier: string
  readonly include: readonly Includable[]
  /** Tokens of context from which it is compacted; null: never. */
  readonly compactThreshold: number | null
  readonly promptCacheKey: string | null
  readonly promptCacheOptions: { readonly mode: string; readonly ttl: string } | null
  readonly promptCacheRetention: string | null
  readonly safetyIdentifier: string | null
  /** Whom the caller asks for; kept to find responses by, and not echoed. */
  readonly user?: string
  readonly background: boolean
  readonly store: boolean
  readonly obfuscation: boolean
  /** Where its shell commands run. */
  readonly shellPlace: ShellPlace
  /** What the model is told of its container. */
  readonly shellAbout: string | null
  /** A `compaction_trigger` was the last item of the input. */
  readonly compactNow: boolean
}

/** When a threshold is asked for without a number: this share of what the model reads. */
const compactShare = 0.8

/** What the body alone says. */
export type AskedOfBody = Omit<Asked, 'shellPlace' | 'shellAbout' | 'compactNow'>

export function askedOf(body: CreateResponse, model: { id: string; contextWindow: number }): AskedOfBody {
  const { format = { type: 'text' as const }, verbosity = null } = body.text ?? {}
  const [compaction] = body.context_management ?? []
  const cache = body.prompt_cache_options
  return {
    model: model.id,
    instructions: body.instructions ?? null,
    tools: (body.tools ?? []).map(withoutSecrets),
    toolChoice: body.tool_choice ?? 'auto',
    parallelToolCalls: body.parallel_tool_calls ?? true,
    maxToolCalls: body.max_tool_calls ?? null,
    maxOutputTokens: body.max_output_tokens ?? null,
    metadata: body.metadata ?? {},
    temperature: body.temperature ?? null,
    topP: body.top_p ?? null,
    topLogprobs: body.top_logprobs ?? 0,
    text: { format, verbosity },
    reasoning: {
      effort: body.reasoning?.effort ?? null,
      summary: body.reasoning?.summary ?? body.reasoning?.generate_summary ?? null,
    },
    truncation: body.truncation ?? 'disabled',
    serviceTier: 'default',
    include: body.include ?? [],
    compactThreshold:
      compaction === undefined
        ? null
        : (compaction.compact_threshold ?? Math.floor(compactShare * model.contextWindow)),
    promptCacheKey: body.prompt_cache_key ?? null,
    promptCacheOptions: cache === undefined ? null : { mode: cache.mode ?? 'implicit', ttl: cache.ttl ?? '30m' },
    promptCacheRetention: body.prompt_cache_retention ?? null,
    safetyIdentifier: body.safety_identifier ?? null,
    ...(body.user === undefined ? {} : { user: body.user }),
    background: body.background ?? false,
    store: body.store ?? true,
    obfuscation: body.stream_options?.include_obfuscation ?? false,
  }
}

/** Secret values and inline bytes are written and never shown: what is stored, echoed and logged has their names only. */
export function withoutSecrets(tool: Tool): Tool {
  if (tool.type !== 'shell' || tool.environment?.type !== 'container_auto') return tool
  const { network_policy: policy, skills, ...environment } = tool.environment
  const shown =
    policy?.type === 'allowlist' && policy.domain_secrets !== undefined
      ? { ...policy, domain_secrets: policy.domain_secrets.map(({ domain, name }) => ({ domain, name })) }
      : policy
  return {
    ...tool,
    environment: {
      ...environment,
      ...(shown === undefined ? {} : { network_policy: shown }),
      ...(skills === undefined ? {} : { skills: skills.map(withoutBytes) }),
    },
  }
}

/** Bytes that came with a request live with its container and nowhere else. */
const withoutBytes = (skill: SkillEntry): SkillEntry =>
  skill.type === 'inline' ? { ...skill, source: { ...skill.source, data: '' } } : skill

/** Rules that concern more than one field. */
export function checkTogether(body: CreateResponse): void {
  if (body.model === undefined) {
    throw new Fault('missing_required_parameter', "Missing required parameter: 'model'.", { param: 'model' })
  }
  if (body.previous_response_id != null && body.conversation != null) {
    throw new Fault(
      'mutually_exclusive_parameters',
      'previous_response_id and conversation exclude each other: a conversation already holds its history.',
      { param: 'conversation' },
    )
  }
  if (body.input == null && body.previous_response_id == null && body.conversation == null) {
    throw new Fault('missing_required_parameter', "Missing required parameter: 'input'.", { param: 'input' })
  }
  if (body.background === true && body.store === false) {
    throw new Fault('invalid_value', 'A background response is always stored: leave store out, or set it to true.', {
      param: 'store',
    })
  }
  checkTools(body.tools ?? [], body.tool_choice ?? 'auto')
}

export function checkTools(tools: readonly Tool[], choice: ToolChoice): void {
  const seen = new Set<string>()
  for (const [index, tool] of tools.entries()) {
    const name = 'name' in tool ? `tool ${tool.name}` : `${tool.type} tool`
    if (seen.has(name)) {
      throw new Fault('duplicate_tool', `There are two of the ${name}.`, { param: `tools[${index}]` })
    }
    seen.add(name)
  }
  const wanted = typeof choice === 'string' ? [] : choice.type === 'allowed_tools' ? choice.tools : [choice]
  for (const one of wanted) {
    const name = 'name' in one ? `tool ${one.name}` : `${one.type} tool`
    if (seen.has(name)) continue
    throw new Fault('invalid_value', `tool_choice asks for the ${name}, which is not among tools.`, {
      param: 'tool_choice',
    })
  }
  if (choice === 'required' && tools.length === 0) {
    throw new Fault('invalid_value', 'tool_choice is required, but there are no tools.', { param: 'tool_choice' })
  }
}
