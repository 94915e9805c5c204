import type { OutputItem } from '@switchyard/contracts/responses/items.ts'
import type { Annotation, Logprob } from '@switchyard/contracts/responses/parts.ts'
import type { StreamEventBody } from '@switchyard/contracts/responses/stream.ts'
import type { TurnPart } from '#modules/inference/index.ts'
import { assert } from '#platform/std/assert.ts'
import { newId } from '#platform/std/ids.ts'
import { callItem, openCallItem, type CallContext } from './call-item.ts'

export type Emit = (event: StreamEventBody) => void

type Finish = Extract<TurnPart, { type: 'finish' }>
type ToolRef = Extract<TurnPart, { type: 'tool-start' }>['tool']

interface OpenText {
  readonly kind: 'output_text' | 'refusal'
  text: string
  logprobs: Logprob[]
  annotations: Annotation[]
}

interface OpenMessage {
  readonly id: string
  readonly index: number
  readonly parts: OpenText[]
}

interface OpenReasoning {
  readonly id: string
  readonly index: number
  readonly summary: string[]
  readonly content: string[]
  current: 'summary' | 'text' | null
}

interface OpenCall {
  readonly tool: ToolRef
  readonly id: string
  readonly callId: string
  /** Null while it is not shown: an apply_patch or local_shell item has no form without its action. */
  readonly index: number | null
}

export interface TurnWriterOptions extends CallContext {
  /** Null when nobody listens: then only the items are built. */
  readonly emit: Emit | null
  /** Where the next item goes in the stream. */
  readonly outputIndex: number
  /** Seals reasoning that the provider did not seal itself; null when the client did not ask for it. */
  readonly sealReasoning: ((text: string) => string) | null
}

/** Turns what a model says into output items and the events that tell of them, in the order the SDK insists on. */
export class TurnWriter {
  readonly #options: TurnWriterOptions
  readonly #emit: Emit
  readonly #items = new Map<number, OutputItem>()
  readonly #calls = new Map<string, OpenCall>()
  #nextIndex: number
  #message: OpenMessage | null = null
  #reasoning: OpenReasoning | null = null
  #finish: Finish | null = null

  constructor(options: TurnWriterOptions) {
    this.#options = options
    this.#emit = options.emit ?? (() => undefined)
    this.#nextIndex = options.outputIndex
  }

  get nextOutputIndex(): number {
    return this.#nextIndex
  }

  get finish(): Finish | null {
    return this.#finish
  }

  /** Items in their order; those of a turn that was cut off are there too once `cutOff` was called. */
  get items(): OutputItem[] {
    return [...this.#items.entries()].toSorted(([a], [b]) => a - b).map(([, item]) => item)
  }

  take(part: TurnPart): void {
    switch (part.type) {
      case 'text':
        this.#text('output_text', part.delta, part.logprobs ?? [])
        break
      case 'refusal':
        this.#text('refusal', part.delta, [])
        break
      case 'reasoning':
        this.#think(part.kind, part.delta)
        break
      case 'reasoning-break':
        if (this.#reasoning !== null) this.#endThought(this.#reasoning)
        break
      case 'reasoning-end':
        this.#closeReasoning('completed', part.encrypted)
        break
      case 'tool-start':
        this.#startCall(part.key, part.tool)
        break
      case 'tool-delta':
        this.#callDelta(part.key, part.delta)
        break
      case 'tool-end':
        this.#endCall(part)
        break
      case 'finish':
        this.#finish = part
        this.#closeAll(part.reason === 'stop' ? 'completed' : 'incomplete')
        break
    }
  }

  /** What is being said; null when it is no text. */
  get openText(): string | null {
    const part = this.#message?.parts.at(-1)
    return part?.kind === 'output_text' ? part.text : null
  }

  /** Adds what the text that is being said refers to. */
  cite(annotations: readonly Annotation[]): void {
    const message = this.#message
    const part = message?.parts.at(-1)
    if (message === null || part?.kind !== 'output_text') return
    for (const annotation of annotations) {
      const annotation_index = part.annotations.push(annotation) - 1
      this.#emit({
        type: 'response.output_text.annotation.added',
        ...this.#inPart(message),
        annotation_index,
        annotation,
      })
    }
  }

  /** The turn ends here, unfinished: what is open is closed as incomplete. */
  cutOff(): void {
    this.#closeAll('incomplete')
  }

  #closeAll(status: 'completed' | 'incomplete'): void {
    this.#closeReasoning(status, null)
    this.#closeMessage(status)
    for (const open of this.#calls.values()) {
      if (open.index !== null) this.#done(open.index, openCallItem(open, 'incomplete', this.#options))
    }
    this.#calls.clear()
  }

  #done(index: number, item: OutputItem): void {
    this.#items.set(index, item)
    this.#emit({ type: 'response.output_item.done', output_index: index, item })
  }

  #takeIndex(): number {
    const index = this.#nextIndex
    this.#nextIndex += 1
    return index
  }

  #text(kind: OpenText['kind'], delta: string, logprobs: readonly Logprob[]): void {
    this.#closeReasoning('completed', null)
    const message = (this.#message ??= this.#openMessage())
    let part = message.parts.at(-1)
    if (part?.kind !== kind) {
      if (part !== undefined) this.#closePart(message, part)
      part = { kind, text: '', logprobs: [], annotations: [] }
      message.parts.push(part)
      this.#emit({ type: 'response.content_part.added', ...this.#inPart(message), part: partView(part) })
    }
    part.text += delta
    if (logprobs.length > 0) part.logprobs.push(...logprobs)
    if (kind === 'refusal') this.#emit({ type: 'response.refusal.delta', ...this.#inPart(message), delta })
    else this.#emit({ type: 'response.output_text.delta', ...this.#inPart(message), delta, logprobs: [...logprobs] })
  }

  #inPart(message: OpenMessage) {
    return { item_id: message.id, output_index: message.index, content_index: message.parts.length - 1 }
  }

  #openMessage(): OpenMessage {
    const message = { id: newId('msg_'), index: this.#takeIndex(), parts: [] }
    const item: OutputItem = { type: 'message', id: message.id, role: 'assistant', status: 'in_progress', content: [] }
    this.#emit({ type: 'response.output_item.added', output_index: message.index, item })
    return message
  }

  #closePart(message: OpenMessage, part: OpenText): void {
    const at = this.#inPart(message)
    if (part.kind === 'refusal') this.#emit({ type: 'response.refusal.done', ...at, refusal: part.text })
    else this.#emit({ type: 'response.output_text.done', ...at, text: part.text, logprobs: part.logprobs })
    this.#emit({ type: 'response.content_part.done', ...at, part: partView(part) })
  }

  #closeMessage(status: 'completed' | 'incomplete'): void {
    const message = this.#message
    if (message === null) return
    this.#message = null
    const last = message.parts.at(-1)
    if (last !== undefined) this.#closePart(message, last)
    const { id, parts } = message
    this.#done(message.index, { type: 'message', id, role: 'assistant', status, content: parts.map(partView) })
  }

  #think(kind: 'summary' | 'text', delta: string): void {
    this.#closeMessage('completed')
    const open = (this.#reasoning ??= this.#openReasoning())
    if (open.current !== kind) {
      this.#endThought(open)
      open.current = kind
      this.#beginThought(open, kind)
    }
    const texts = kind === 'summary' ? open.summary : open.content
    texts[texts.length - 1] += delta
    const at = { item_id: open.id, output_index: open.index }
    if (kind === 'text') {
      this.#emit({ type: 'response.reasoning_text.delta', ...at, content_index: texts.length - 1, delta })
    } else this.#emit({ type: 'response.reasoning_summary_text.delta', ...at, summary_index: texts.length - 1, delta })
  }

  #openReasoning(): OpenReasoning {
    const open: OpenReasoning = { id: newId('rs_'), index: this.#takeIndex(), summary: [], content: [], current: null }
    const item: OutputItem = { type: 'reasoning', id: open.id, summary: [], status: 'in_progress' }
    this.#emit({ type: 'response.output_item.added', output_index: open.index, item })
    return open
  }

  #beginThought(open: OpenReasoning, kind: 'summary' | 'text'): void {
    const at = { item_id: open.id, output_index: open.index }
    if (kind === 'text') {
      open.content.push('')
      const part = { type: 'reasoning_text' as const, text: '' }
      this.#emit({ type: 'response.content_part.added', ...at, content_index: open.content.length - 1, part })
      return
    }
    open.summary.push('')
    const part = { type: 'summary_text' as const, text: '' }
    this.#emit({ type: 'response.reasoning_summary_part.added', ...at, summary_index: open.summary.length - 1, part })
  }

  #endThought(open: OpenReasoning): void {
    const at = { item_id: open.id, output_index: open.index }
    if (open.current === 'text') {
      const text = open.content.at(-1) ?? ''
      const content_index = open.content.length - 1
      this.#emit({ type: 'response.reasoning_text.done', ...at, content_index, text })
      const part = { type: 'reasoning_text' as const, text }
      this.#emit({ type: 'response.content_part.done', ...at, content_index, part })
    } else if (open.current === 'summary') {
      const text = open.summary.at(-1) ?? ''
      const summary_index = open.summary.length - 1
      this.#emit({ type: 'response.reasoning_summary_text.done', ...at, summary_index, text })
      const part = { type: 'summary_text' as const, text }
      this.#emit({ type: 'response.reasoning_summary_part.done', ...at, summary_index, part })
    }
    open.current = null
  }

  #closeReasoning(status: 'completed' | 'incomplete', encrypted: string | null): void {
    // A provider may send nothing but the sealed form.
    if (this.#reasoning === null && encrypted !== null) this.#reasoning = this.#openReasoning()
    const open = this.#reasoning
    if (open === null) return
    this.#reasoning = null
    this.#endThought(open)
    const { sealReasoning } = this.#options
    const sealed = sealReasoning === null ? null : (encrypted ?? sealReasoning(open.content.join('\n')))
    this.#done(open.index, {
      type: 'reasoning',
      id: open.id,
      summary: open.summary.map((text) => ({ type: 'summary_text', text })),
      ...(open.content.length === 0
        ? {}
        : { content: open.content.map((text) => ({ type: 'reasoning_text' as const, text })) }),
      ...(sealed === null ? {} : { encrypted_content: sealed }),
      status,
    })
  }

  #startCall(key: string, tool: ToolRef): void {
    this.#closeReasoning('completed', null)
    this.#closeMessage('completed')
    assert(!this.#calls.has(key), `tool call ${key} starts once`)
    const shown = tool.type !== 'apply_patch' && tool.type !== 'local_shell'
    const index = shown ? this.#takeIndex() : null
    const open = { tool, id: newId(idPrefixes[tool.type]), callId: newId('call_'), index }
    this.#calls.set(key, open)
    if (index === null) return
    const item = openCallItem(open, 'in_progress', this.#options)
    this.#emit({ type: 'response.output_item.added', output_index: index, item })
  }

  #callDelta(key: string, delta: string): void {
    const open = this.#calls.get(key)
    if (open === undefined || open.index === null) return
    const at = { item_id: open.id, output_index: open.index, delta }
    if (open.tool.type === 'function') this.#emit({ type: 'response.function_call_arguments.delta', ...at })
    else if (open.tool.type === 'custom') this.#emit({ type: 'response.custom_tool_call_input.delta', ...at })
  }

  #endCall({ key, call }: Extract<TurnPart, { type: 'tool-end' }>): void {
    const open = this.#calls.get(key)
    assert(open !== undefined, `tool call ${key} has started`)
    this.#calls.delete(key)
    const { id } = open
    const index = open.index ?? this.#takeIndex()
    const item = callItem(open, call, this.#options)
    const at = { item_id: id, output_index: index }
    switch (call.type) {
      case 'function':
        this.#emit({ type: 'response.function_call_arguments.done', ...at, arguments: call.arguments })
        break
      case 'custom':
        this.#emit({ type: 'response.custom_tool_call_input.done', ...at, input: call.input })
        break
      case 'shell':
        this.#emitCommands(index, call.commands)
        break
      default:
        this.#emit({ type: 'response.output_item.added', output_index: index, item })
    }
    this.#done(index, item)
  }

  #emitCommands(output_index: number, commands: readonly string[]): void {
    for (const [command_index, command] of commands.entries()) {
      const at = { output_index, command_index }
      // Deltas append to what `added` carried, so that begins empty.
      this.#emit({ type: 'response.shell_call_command.added', ...at, command: '' })
      this.#emit({ type: 'response.shell_call_command.delta', ...at, delta: command })
      this.#emit({ type: 'response.shell_call_command.done', ...at, command })
    }
  }
}

const idPrefixes: Record<ToolRef['type'], string> = {
  function: 'fc_',
  custom: 'ctc_',
  shell: 'sh_',
  apply_patch: 'apc_',
  local_shell: 'lsh_',
}

function partView(part: OpenText) {
  if (part.kind === 'refusal') return { type: 'refusal' as const, refusal: part.text }
  return {
    type: 'output_text' as const,
    text: part.text,
    annotations: part.annotations,
    logprobs: part.logprobs,
  }
}
