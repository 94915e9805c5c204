import type { Logprob } from '@switchyard/contracts/responses/parts.ts'
import type { Usage } from '@switchyard/contracts/responses/response.ts'
import type { DeclaredTools } from '../domain/declared-tools.ts'
import { estimateTokens, tokensOf } from '../domain/estimate-tokens.ts'
import { toolCallOf } from '../domain/tool-call.ts'
import type { FinishReason, ToolCall, ToolRef, TurnPart, TurnRequest } from '../domain/turn.ts'
import { usageOf } from '../domain/usage.ts'

interface OpenCall {
  readonly key: string
  readonly tool: ToolRef
  /** False where the wire wraps what the tool gets, so that pieces of it mean nothing yet. */
  readonly bare: boolean
  text: string
}

/** Turns what a wire says into parts: keeps blocks apart, calls by key, and counts what no provider counted. */
export class AnswerParts {
  usage: Usage | null = null
  model: string | null = null
  reason: FinishReason = 'stop'
  #out: TurnPart[] = []
  readonly #request: TurnRequest
  readonly #tools: DeclaredTools
  readonly #calls = new Map<string, OpenCall>()
  #reasoning = false
  #chars = 0

  constructor(request: TurnRequest, tools: DeclaredTools) {
    this.#request = request
    this.#tools = tools
  }

  /** The parts that nobody has taken yet. */
  take(): TurnPart[] {
    const taken = this.#out
    this.#out = []
    return taken
  }

  text(delta: string, logprobs?: readonly Logprob[]): void {
    if (this.#calls.size > 0) {
      // Some servers put line ends between calls; a message of nothing else would only disturb.
      if (delta.trim() === '') return
      this.endCalls()
    }
    this.#endReasoning()
    this.#chars += delta.length
    this.#out.push(logprobs === undefined ? { type: 'text', delta } : { type: 'text', delta, logprobs })
  }

  refusal(delta: string): void {
    this.#endReasoning()
    this.#chars += delta.length
    this.#out.push({ type: 'refusal', delta })
  }

  reasoning(kind: 'summary' | 'text', delta: string): void {
    this.#reasoning = true
    this.#chars += delta.length
    this.#out.push({ type: 'reasoning', kind, delta })
  }

  reasoningBreak(): void {
    this.#out.push({ type: 'reasoning-break' })
  }

  /** Also without any text: the sealed form alone is worth keeping. */
  reasoningEnd(encrypted: string | null): void {
    if (!this.#reasoning && encrypted === null) return
    this.#reasoning = false
    this.#out.push({ type: 'reasoning-end', encrypted })
  }

  /** `custom`: the wire has custom tools of its own, and this is a call of one. */
  callStart(key: string, name: string, custom = false): void {
    this.#endReasoning()
    const tool: ToolRef = custom ? { type: 'custom', name } : this.#tools.refOf(name)
    this.#calls.set(key, { key, tool, bare: custom || tool.type === 'function', text: '' })
    this.#out.push({ type: 'tool-start', key, tool })
  }

  hasCall(key: string): boolean {
    return this.#calls.has(key)
  }

  callDelta(key: string, delta: string): void {
    const call = this.#calls.get(key)
    if (call === undefined || delta === '') return
    call.text += delta
    this.#chars += delta.length
    if (call.bare) this.#out.push({ type: 'tool-delta', key, delta })
  }

  /** `whole`: all of it, in case the wire sent no pieces. */
  callEnd(key: string, whole = ''): void {
    const open = this.#calls.get(key)
    if (open === undefined) return
    if (open.text === '') this.callDelta(key, whole)
    this.#calls.delete(key)
    const { tool, bare, text } = open
    const call: ToolCall =
      bare && tool.type === 'custom' ? { ...tool, type: 'custom', input: text } : toolCallOf(tool, text)
    if (call.type === 'custom' && !bare) this.#out.push({ type: 'tool-delta', key, delta: call.input })
    this.#out.push({ type: 'tool-end', key, call })
  }

  endCalls(): void {
    for (const key of this.#calls.keys()) this.callEnd(key)
  }

  finish(): void {
    this.#endReasoning()
    // A call that a limit or a filter cut in two is no call; what the message says so far still stands.
    if (this.reason === 'stop') this.endCalls()
    else this.#endWholeCalls()
    this.#out.push({ type: 'finish', reason: this.reason, usage: this.usage ?? this.#estimate(), model: this.model })
  }

  #endReasoning(): void {
    if (this.#reasoning) this.reasoningEnd(null)
  }

  #endWholeCalls(): void {
    for (const { key, tool, text } of this.#calls.values()) {
      if (tool.type === 'function' || isJson(text)) this.callEnd(key)
    }
  }

  /** For providers that report nothing: from characters, as limits estimate. */
  #estimate(): Usage {
    return usageOf({ input: estimateTokens(this.#request), output: tokensOf(this.#chars) })
  }
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
