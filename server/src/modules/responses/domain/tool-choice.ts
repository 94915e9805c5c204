import type { Tool, ToolChoice } from '@switchyard/contracts/responses/tools.ts'
import type { ToolRef, TurnToolChoice } from '#modules/inference/index.ts'
import type { LiveResponse } from './live-response.ts'

export interface TurnTools {
  readonly tools: readonly Tool[]
  readonly choice: TurnToolChoice
  /** The answer must be a tool call. */
  readonly required: boolean
}

const refOf = (tool: Tool): ToolRef =>
  tool.type === 'function' || tool.type === 'custom' ? { type: tool.type, name: tool.name } : { type: tool.type }

const same = (a: { type: string; name?: string }, b: { type: string; name?: string }) =>
  a.type === b.type && a.name === b.name

/**
 * Which tools a turn may use, and must. What the client demanded holds for the first turn: with it in force for ever, a
 * response with a hosted tool would never end. Hosted calls beyond `max_tool_calls` are not offered any more.
 */
export function turnTools({ asked, output }: LiveResponse): TurnTools {
  const hosted = output.filter((item) => item.type === 'shell_call_output').length
  const spent = asked.maxToolCalls !== null && hosted >= asked.maxToolCalls
  const tools = asked.tools.filter((tool) => !(spent && isHosted(tool)))
  const first = !output.some((item) => item.type !== 'compaction')
  const choice = narrowed(asked.toolChoice, tools)
  if (first || choice.choice.mode === 'none') return choice
  return { ...choice, choice: { mode: 'auto' }, required: false }
}

export function isHosted(tool: Tool): boolean {
  return tool.type === 'shell' && (tool.environment?.type ?? 'local') !== 'local'
}

function narrowed(choice: ToolChoice, tools: readonly Tool[]): TurnTools {
  if (choice === 'auto' || choice === 'none') return { tools, choice: { mode: choice }, required: false }
  if (tools.length === 0) return { tools, choice: { mode: 'none' }, required: false }
  if (choice === 'required') return { tools, choice: { mode: 'required' }, required: true }
  if (choice.type === 'allowed_tools') {
    const allowed = tools.filter((tool) => choice.tools.some((one) => same(one, refOf(tool))))
    return narrowed(choice.mode, allowed)
  }
  const tool = tools.find((one) => same(choice, refOf(one)))
  if (tool === undefined) return { tools, choice: { mode: 'auto' }, required: false }
  return { tools, choice: { mode: 'tool', tool: refOf(tool) }, required: true }
}
