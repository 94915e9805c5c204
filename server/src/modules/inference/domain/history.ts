import type { StoredItem } from '@switchyard/contracts/responses/items.ts'
import type {
  InputFile,
  InputImage,
  InputText,
  MessagePart,
  ToolOutputPart,
} from '@switchyard/contracts/responses/parts.ts'
import { assert } from '#platform/std/assert.ts'
import type { DeclaredTools } from './declared-tools.ts'

export interface SaidCall {
  readonly id: string
  readonly name: string
  /** JSON text. */
  readonly arguments: string
}

export interface SaidResult {
  readonly id: string
  readonly name: string
  readonly output: string | readonly ToolOutputPart[]
}

type ReasoningItem = Extract<StoredItem, { type: 'reasoning' }>

/** The context as providers without items know it: turns of a conversation. */
export type Said =
  | { readonly by: 'system'; readonly text: string }
  | { readonly by: 'user'; readonly parts: readonly (InputText | InputImage | InputFile)[] }
  | { readonly by: 'assistant'; readonly reasoning: ReasoningItem[]; text: string; readonly calls: SaidCall[] }
  | { readonly by: 'tools'; readonly results: SaidResult[] }

/** Groups items: what the model said and called in one go is one turn, and so are the answers to its calls. */
export function historyOf(items: readonly StoredItem[], tools: DeclaredTools): Said[] {
  const said: Said[] = []
  const names = new Map<string, string>()
  /** A local shell's output names its call by the call's own id. */
  const callOfItem = new Map<string, string>()
  for (const item of items) {
    const call = callOf(item, tools)
    if (call !== null) {
      names.set(call.id, call.name)
      if (item.type === 'local_shell_call') callOfItem.set(item.id, call.id)
      assistant(said).calls.push(call)
      continue
    }
    const answer = answerOf(item, callOfItem)
    if (answer !== null) results(said).push({ ...answer, name: names.get(answer.id) ?? 'unknown' })
    else if (item.type === 'message') addMessage(said, item)
    else if (item.type === 'reasoning') reasoningTurn(said).reasoning.push(item)
    else assert(false, `an item of type ${item.type} is replaced before a turn`)
  }
  return said
}

type Assistant = Extract<Said, { by: 'assistant' }>

function assistant(said: Said[]): Assistant {
  const last = said.at(-1)
  if (last?.by === 'assistant') return last
  const turn: Assistant = { by: 'assistant', reasoning: [], text: '', calls: [] }
  said.push(turn)
  return turn
}

/** Reasoning comes before what it led to. */
function reasoningTurn(said: Said[]): Assistant {
  const last = said.at(-1)
  if (last?.by === 'assistant' && last.text === '' && last.calls.length === 0) return last
  const turn: Assistant = { by: 'assistant', reasoning: [], text: '', calls: [] }
  said.push(turn)
  return turn
}

function results(said: Said[]): SaidResult[] {
  const last = said.at(-1)
  if (last?.by === 'tools') return last.results
  const turn = { by: 'tools' as const, results: [] }
  said.push(turn)
  return turn.results
}

function addMessage(said: Said[], { role, content }: Extract<StoredItem, { type: 'message' }>): void {
  if (role === 'user') said.push({ by: 'user', parts: content.map(inputPart) })
  else if (role === 'assistant') reasoningTurn(said).text = content.map(textOf).join('')
  else said.push({ by: 'system', text: content.map(textOf).join('') })
}

function textOf(part: MessagePart): string {
  if (part.type === 'input_text' || part.type === 'output_text') return part.text
  return part.type === 'refusal' ? part.refusal : ''
}

function inputPart(part: MessagePart): InputText | InputImage | InputFile {
  return part.type === 'input_image' || part.type === 'input_file' ? part : { type: 'input_text', text: textOf(part) }
}

/** The call in an item; null when it is none. */
export function callOf(item: StoredItem, tools: DeclaredTools): SaidCall | null {
  switch (item.type) {
    case 'function_call':
      return { id: item.call_id, name: item.name, arguments: item.arguments }
    case 'custom_tool_call':
      return { id: item.call_id, name: item.name, arguments: JSON.stringify({ input: item.input }) }
    case 'shell_call':
      return { id: item.call_id, name: tools.kindName('shell'), arguments: JSON.stringify(item.action) }
    case 'local_shell_call': {
      const { type: _exec, ...action } = item.action
      return { id: item.call_id, name: tools.kindName('local_shell'), arguments: JSON.stringify(action) }
    }
    case 'apply_patch_call': {
      const args = JSON.stringify({ operation: item.operation })
      return { id: item.call_id, name: tools.kindName('apply_patch'), arguments: args }
    }
    default:
      return null
  }
}

/** The answer to a call in an item; null when it is none. */
export function answerOf(item: StoredItem, callOfItem: ReadonlyMap<string, string>): Omit<SaidResult, 'name'> | null {
  switch (item.type) {
    case 'function_call_output':
    case 'custom_tool_call_output':
      return { id: item.call_id, output: item.output }
    case 'shell_call_output': {
      const entries = item.output.map(({ stdout, stderr, outcome }) => ({ stdout, stderr, outcome }))
      return { id: item.call_id, output: JSON.stringify({ output: entries }) }
    }
    case 'local_shell_call_output':
      return { id: callOfItem.get(item.id) ?? item.id, output: item.output }
    case 'apply_patch_call_output':
      return { id: item.call_id, output: JSON.stringify({ status: item.status, output: item.output ?? '' }) }
    default:
      return null
  }
}
